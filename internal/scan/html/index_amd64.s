#include "textflag.h"

// func indexVectors(text *byte, blocks int, base uint32, at *uint32, odd *uint64) int
//
// For each of the blocks of 64 bytes: writes base plus the offsets of "<" and
// double quotes to at, and to odd the bits of the bytes that are "&", CR, NUL
// or above 0x7F. Returns the number of offsets; up to eight more are written
// behind them.
TEXT ·indexVectors(SB), NOSPLIT, $0-48
	MOVQ text+0(FP), SI
	MOVQ blocks+8(FP), CX
	MOVL base+16(FP), R8
	MOVQ at+24(FP), DI
	MOVQ odd+32(FP), DX
	MOVQ DI, R9
	MOVL $0x3C, AX // <
	MOVQ AX, X0
	VPBROADCASTB X0, Y0
	MOVL $0x22, AX // "
	MOVQ AX, X1
	VPBROADCASTB X1, Y1
	MOVL $0x26, AX // &
	MOVQ AX, X2
	VPBROADCASTB X2, Y2
	MOVL $0x0D, AX // CR
	MOVQ AX, X3
	VPBROADCASTB X3, Y3
	VPXOR Y4, Y4, Y4 // NUL

block:
	VMOVDQU (SI), Y5
	VMOVDQU 32(SI), Y6
	VPCMPEQB Y5, Y0, Y7
	VPCMPEQB Y5, Y1, Y8
	VPOR Y7, Y8, Y7
	VPMOVMSKB Y7, AX
	VPCMPEQB Y6, Y0, Y9
	VPCMPEQB Y6, Y1, Y10
	VPOR Y9, Y10, Y9
	VPMOVMSKB Y9, BX
	SHLQ $32, BX
	ORQ BX, AX

	VPCMPEQB Y5, Y2, Y11
	VPCMPEQB Y5, Y3, Y12
	VPCMPEQB Y5, Y4, Y13
	VPOR Y11, Y12, Y11
	VPOR Y13, Y5, Y13 // the top bit of the byte itself
	VPOR Y11, Y13, Y11
	VPMOVMSKB Y11, R10
	VPCMPEQB Y6, Y2, Y11
	VPCMPEQB Y6, Y3, Y12
	VPCMPEQB Y6, Y4, Y13
	VPOR Y11, Y12, Y11
	VPOR Y13, Y6, Y13
	VPOR Y11, Y13, Y11
	VPMOVMSKB Y11, R11
	SHLQ $32, R11
	ORQ R11, R10
	MOVQ R10, (DX)
	ADDQ $8, DX

	// Eight offsets at a time, there or not: the number varies from block to
	// block, and a loop that counts would be mispredicted at most of them.
	POPCNTQ AX, R12
	MOVQ DI, R14
	LEAQ (DI)(R12*4), DI

eight:
	TZCNTQ AX, R13
	ADDL R8, R13
	MOVL R13, (R14)
	BLSRQ AX, AX
	TZCNTQ AX, R13
	ADDL R8, R13
	MOVL R13, 4(R14)
	BLSRQ AX, AX
	TZCNTQ AX, R13
	ADDL R8, R13
	MOVL R13, 8(R14)
	BLSRQ AX, AX
	TZCNTQ AX, R13
	ADDL R8, R13
	MOVL R13, 12(R14)
	BLSRQ AX, AX
	TZCNTQ AX, R13
	ADDL R8, R13
	MOVL R13, 16(R14)
	BLSRQ AX, AX
	TZCNTQ AX, R13
	ADDL R8, R13
	MOVL R13, 20(R14)
	BLSRQ AX, AX
	TZCNTQ AX, R13
	ADDL R8, R13
	MOVL R13, 24(R14)
	BLSRQ AX, AX
	TZCNTQ AX, R13
	ADDL R8, R13
	MOVL R13, 28(R14)
	BLSRQ AX, AX
	ADDQ $32, R14
	TESTQ AX, AX
	JNZ eight

	ADDQ $64, SI
	ADDL $64, R8
	DECQ CX
	JNZ block

	VZEROUPPER
	SUBQ R9, DI
	SHRQ $2, DI
	MOVQ DI, ret+40(FP)
	RET
