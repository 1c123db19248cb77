#pragma once

namespace recon {

/// Bytes read and written per second, as measured by copies on an H200.
inline constexpr double kH200BytesPerSecond = 4.294e12;

}  // namespace recon
