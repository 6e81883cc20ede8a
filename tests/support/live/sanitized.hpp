// SPDX-License-Identifier: Apache-2.0
//
// Whether what is tested was built with the sanitizers; all of a build is or nothing.
#pragma once

namespace kcg::live {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace kcg::live
