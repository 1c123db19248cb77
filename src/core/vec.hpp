#pragma once

#include <cmath>

#include "core/hd.hpp"

namespace recon {

/// Small plain vectors and matrices, shared by host and device. Matrices are row-major.
template <class T>
struct Vec2 {
  T x, y;
};

template <class T>
struct Vec3 {
  T x, y, z;
};

template <class T>
struct Mat3 {
  T m[9];
  RECON_HD T& operator()(int row, int col) { return m[3 * row + col]; }
  RECON_HD T operator()(int row, int col) const { return m[3 * row + col]; }
};

using Vec2d = Vec2<double>;
using Vec3f = Vec3<float>;
using Vec3d = Vec3<double>;
using Mat3d = Mat3<double>;

template <class T>
RECON_HD Vec2<T> operator-(Vec2<T> a, Vec2<T> b) {
  return {a.x - b.x, a.y - b.y};
}

template <class T>
RECON_HD Vec3<T> operator+(Vec3<T> a, Vec3<T> b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}

template <class T>
RECON_HD Vec3<T> operator-(Vec3<T> a, Vec3<T> b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}

template <class T>
RECON_HD Vec3<T> operator-(Vec3<T> a) {
  return {-a.x, -a.y, -a.z};
}

template <class T>
RECON_HD Vec3<T> operator*(T s, Vec3<T> a) {
  return {s * a.x, s * a.y, s * a.z};
}

template <class T>
RECON_HD T dot(Vec3<T> a, Vec3<T> b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

template <class T>
RECON_HD Vec3<T> cross(Vec3<T> a, Vec3<T> b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

template <class T>
RECON_HD T norm(Vec3<T> a) {
  return std::sqrt(dot(a, a));
}

RECON_HD Vec3d widened(Vec3f a) {
  return {static_cast<double>(a.x), static_cast<double>(a.y), static_cast<double>(a.z)};
}

/// `a` normalised to unit length; the zero vector is unchanged.
template <class T>
RECON_HD Vec3<T> normalized(Vec3<T> a) {
  const T n = norm(a);
  return n > T(0) ? (T(1) / n) * a : a;
}

template <class T>
RECON_HD Mat3<T> identity() {
  return {{T(1), T(0), T(0), T(0), T(1), T(0), T(0), T(0), T(1)}};
}

template <class T>
RECON_HD Mat3<T> transpose(const Mat3<T>& a) {
  return {{a.m[0], a.m[3], a.m[6], a.m[1], a.m[4], a.m[7], a.m[2], a.m[5], a.m[8]}};
}

template <class T>
RECON_HD Vec3<T> operator*(const Mat3<T>& a, Vec3<T> v) {
  return {a.m[0] * v.x + a.m[1] * v.y + a.m[2] * v.z, a.m[3] * v.x + a.m[4] * v.y + a.m[5] * v.z,
          a.m[6] * v.x + a.m[7] * v.y + a.m[8] * v.z};
}

template <class T>
RECON_HD Mat3<T> operator*(const Mat3<T>& a, const Mat3<T>& b) {
  Mat3<T> c{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) c(i, j) = a(i, 0) * b(0, j) + a(i, 1) * b(1, j) + a(i, 2) * b(2, j);
  return c;
}

}  // namespace recon
