import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../../test/support/fixtures/virtual-clock.ts'
import { suspects } from './refusal.ts'
import type { EncodedRows } from './rows.ts'
import { RejectedRequest } from './sender.ts'
import { type Piece, submissionOf } from './submission.ts'

const rows = (table: string, count: number): EncodedRows => ({
  table,
  bytes: Buffer.alloc(count),
  ends: Array.from({ length: count }, (_, i) => i + 1),
})
const pieceOf = (held: EncodedRows): Piece => ({
  work: held,
  submission: submissionOf([held], { lane: 'live', deadlineMs: 1_000, clock: createVirtualClock() }),
})
const request = [pieceOf(rows('a', 2)), pieceOf(rows('b', 3)), pieceOf(rows('a', 1)), pieceOf(rows('c', 1))]
const refusal = (words: string) => new RejectedRequest(`HTTP request failed, statusCode=400, error=${words}`)

test.each([
  ['error in line 1: table: a, column: v', [0, 2]],
  ['error in line 2: table: a, column: v', [0, 2]],
  ['error in line 3: table: b, column: v', [1]],
  ['error in line 5: table: b, column: v', [1]],
  ['error in line 7: table: c, column: v', [3]],
  ['error in line 8: more than there are', [0, 1, 2, 3]],
  ['error in line 0: no such line', [0, 1, 2, 3]],
  ['words of another version', [0, 1, 2, 3]],
])('the refusal "%s" selects the pieces of one table, or all', (words, expected) => {
  expect([...suspects(request, refusal(words))].map((piece) => request.indexOf(piece))).toEqual(expected)
})
