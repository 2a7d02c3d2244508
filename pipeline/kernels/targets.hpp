// The targets for which kernels are compiled: the baseline (SSE2 on x86-64), AVX2, AVX-512. To be
// included before Highway's headers. There is no include guard, because the file only sets macros.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
