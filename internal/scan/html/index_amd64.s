#include "textflag.h"

// func indexVectors(text *byte, blocks int, base uint32, at *uint32, special *uint64) int
//
// Reads blocks of 64 bytes. Writes base plus the offset of each "<" and double
// quote to at, and for each block the bits of the bytes that are "&", CR, NUL or
// above 0x7F to special. Returns the number of offsets. Writes up to eight more
// values after them.
TEXT ·indexVectors(SB), NOSPLIT, $0-48
	MOVQ text+0(FP), SI
	MOVQ blocks+8(FP), CX
	MOVL base+16(FP), R8
	MOVQ at+24(FP), DI
	MOVQ special+32(FP), DX
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

	// Write eight offsets at a time, even if there are fewer. The number varies
	// from block to block, so the branch of a loop over the exact number would be
	// mispredicted for most blocks.
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
