// SPDX-License-Identifier: Apache-2.0
#include "guest.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace kcg::standin {

namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

constexpr std::size_t kSize = 65536;

// ff000: where the other processors wake up (startup vector 0xff): jmp $
constexpr std::string_view kOthers = "\xeb\xfe"sv;

// ff100: whatever interrupts the first processor returns to it: an emulated KVM has it interrupted
// now and then by what nobody sent, and without vectors it would never be heard of again.
constexpr std::string_view kVectors =
    "\x31\xff\x8e\xc7"          // xor di, di ; mov es, di
    "\xbc\x00\x10"              // mov sp, 0x1000: the first page has the vectors and the stack
    "\xb9\x00\x01"              // mov cx, 256
    "\x66\xb8\xa0\xf1\x00\xf0"  // mov eax, 0xf000f1a0
    "\xfc\x66\xf3\xab"sv;       // cld ; rep stosd

// It borrows a flat data segment ("unreal mode") to reach all memory.
constexpr std::string_view kFlat =
    "\xfa"                              // cli
    "\x8c\xc8\x8e\xd8"                  // mov ax, cs ; mov ds, ax
    "\x66\x0f\x01\x16\x80\xf1"          // lgdt [0xf180]
    "\x0f\x20\xc0\x0c\x01\x0f\x22\xc0"  // mov eax, cr0 ; or al, 1 ; mov cr0, eax
    "\xbb\x08\x00\x8e\xdb"              // mov bx, 8 ; mov ds, bx
    "\x24\xfe\x0f\x22\xc0"sv;           // and al, 0xfe ; mov cr0, eax

// To its local APIC: INIT and SIPI to all others; and it spins.
constexpr std::string_view kSpin =
    "\x66\xbb\x00\x03\xe0\xfe"          // mov ebx, 0xfee00300
    "\x67\x66\xc7\x03\x00\x45\x0c\x00"  // mov dword [ebx], 0x000c4500: INIT, all but self
    "\x67\x66\xc7\x03\xff\x46\x0c\x00"  // mov dword [ebx], 0x000c46ff: SIPI, vector 0xff
    "\xeb\xfe"sv;                       // jmp $

// ff180: the GDT's limit and address; ff190: a null and a flat read-write descriptor
constexpr std::string_view kGdtRegister = "\x0f\x00\x90\xf1\x0f\x00"sv;
constexpr std::string_view kGdt =
    "\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00\x00\x93\xcf\x00"sv;

// ff1a0: where the vectors lead
constexpr std::string_view kReturn = "\xcf"sv;  // iret

// ffff0: the reset vector
constexpr std::string_view kJumpToFirst = "\xe9\x0d\xf1"sv;  // jmp 0xf100
constexpr std::string_view kHalt = "\xfa\xf4\xeb\xfd"sv;     // cli ; hlt ; jmp to hlt

// In the same place: for a guest that writes to each page from 1 MiB on...
constexpr std::string_view kNextPage =
    "\x66\xbb\x00\x00\x10\x00"         // mov ebx, 0x100000
    "\x67\x66\x89\x1b"                 // again: mov [ebx], ebx
    "\x66\x81\xc3\x00\x10\x00\x00"sv;  // add ebx, 0x1000

// ...until the end of its memory, and then halts;
std::string touch(std::uint32_t memory_mib) {
  std::string end;
  for (const unsigned shift : {0U, 8U, 16U, 24U})
    end += static_cast<char>(((memory_mib << 20) >> shift) & 0xff);
  return std::string(kNextPage) + "\x66\x81\xfb"s + end +  // cmp ebx, end
         "\x72\xec"s                                       // jb again
         "\xfa\xf4\xeb\xfd"s;                              // cli ; hlt ; jmp to hlt
}

// ...or for ever, whatever is there.
std::string eat() { return std::string(kNextPage) + "\xeb\xf3"s; }  // jmp again

std::string work(Guest guest, std::uint32_t memory_mib) {
  if (guest == Guest::touch) return touch(memory_mib);
  return guest == Guest::eat ? eat() : std::string(kSpin);
}

void put(std::string& image, std::size_t offset, std::string_view code) {
  image.replace(offset, code.size(), code);
}

}  // namespace

std::string firmware(Guest guest, std::uint32_t memory_mib) {
  std::string image(kSize, '\0');
  if (guest == Guest::halt) {
    put(image, 0xfff0, kHalt);
    return image;
  }
  put(image, 0xf000, kOthers);
  put(image, 0xf100, std::string(kVectors) + std::string(kFlat) + work(guest, memory_mib));
  put(image, 0xf180, kGdtRegister);
  put(image, 0xf190, kGdt);
  put(image, 0xf1a0, kReturn);
  put(image, 0xfff0, kJumpToFirst);
  return image;
}

}  // namespace kcg::standin
