// SPDX-License-Identifier: Apache-2.0
#include "guest.hpp"

#include <cstddef>
#include <string_view>

namespace kcg::standin {

namespace {

using namespace std::string_view_literals;

constexpr std::size_t kSize = 65536;

// ff000: where the other processors wake up (startup vector 0xff): jmp $
constexpr std::string_view kOthers = "\xeb\xfe"sv;

// ff100: the first processor borrows a flat data segment ("unreal mode") to reach its local APIC,
// sends INIT and SIPI to all others, and spins.
constexpr std::string_view kFirst =
    "\xfa"                              // cli
    "\x8c\xc8\x8e\xd8"                  // mov ax, cs ; mov ds, ax
    "\x66\x0f\x01\x16\x80\xf1"          // lgdt [0xf180]
    "\x0f\x20\xc0\x0c\x01\x0f\x22\xc0"  // mov eax, cr0 ; or al, 1 ; mov cr0, eax
    "\xbb\x08\x00\x8e\xdb"              // mov bx, 8 ; mov ds, bx
    "\x24\xfe\x0f\x22\xc0"              // and al, 0xfe ; mov cr0, eax
    "\x66\xbb\x00\x03\xe0\xfe"          // mov ebx, 0xfee00300
    "\x67\x66\xc7\x03\x00\x45\x0c\x00"  // mov dword [ebx], 0x000c4500: INIT, all but self
    "\x67\x66\xc7\x03\xff\x46\x0c\x00"  // mov dword [ebx], 0x000c46ff: SIPI, vector 0xff
    "\xeb\xfe"sv;                       // jmp $

// ff180: the GDT's limit and address; ff190: a null and a flat read-write descriptor
constexpr std::string_view kGdtRegister = "\x0f\x00\x90\xf1\x0f\x00"sv;
constexpr std::string_view kGdt =
    "\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00\x00\x93\xcf\x00"sv;

// ffff0: the reset vector
constexpr std::string_view kJumpToFirst = "\xe9\x0d\xf1"sv;  // jmp 0xf100
constexpr std::string_view kHalt = "\xfa\xf4\xeb\xfd"sv;     // cli ; hlt ; jmp to hlt

void put(std::string& image, std::size_t offset, std::string_view code) {
  image.replace(offset, code.size(), code);
}

}  // namespace

std::string firmware(Guest guest) {
  std::string image(kSize, '\0');
  if (guest == Guest::halt) {
    put(image, 0xfff0, kHalt);
    return image;
  }
  put(image, 0xf000, kOthers);
  put(image, 0xf100, kFirst);
  put(image, 0xf180, kGdtRegister);
  put(image, 0xf190, kGdt);
  put(image, 0xfff0, kJumpToFirst);
  return image;
}

}  // namespace kcg::standin
