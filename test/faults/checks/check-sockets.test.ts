import { expect, test } from 'vitest'
import type { Bar } from '../../../services/core/bars/bar.ts'
import {
  checkPushed,
  checkSocket,
  isCaughtUp,
  type ReceivedFrame,
  type SocketRecord,
} from './check-sockets.ts'

const minutes = [60, 120, 180, 240].map((time, i) => ({ time, begunMs: 100 * (i + 1) }))
const bar = (time: number, volume = 1): Bar =>
  ({ time, open: 1, high: 2, low: 1, close: 1, volume }) as unknown as Bar
const pushed = (time: number): ReceivedFrame => ({ type: 'bar', symbol: 'A', bar: bar(time) })
const gap = (after: number, until: number): ReceivedFrame => ({ type: 'gap', symbol: 'A', after, until })
const record = (seen: readonly ReceivedFrame[], more: Partial<SocketRecord> = {}): SocketRecord => ({
  id: 'one',
  symbols: ['A'],
  subscribedMs: 50,
  since: new Map(),
  filled: new Map(),
  seen,
  ...more,
})

test('a missing, repeated or misplaced minute on a socket is a complaint, one that a GAP names is not', () => {
  expect(checkSocket(record([pushed(60), pushed(120), pushed(180)]), minutes)).toEqual([])
  expect(checkSocket(record([pushed(60), pushed(180)]), minutes)).toEqual([
    'one A at 120 is neither delivered nor named',
  ])
  expect(checkSocket(record([pushed(60), gap(60, 180), pushed(180)]), minutes)).toEqual([])
  expect(checkSocket(record([pushed(60), pushed(60)]), minutes)).toEqual(['one A at 60 came after 60'])
  expect(checkSocket(record([pushed(120), pushed(60)]), minutes)).toContain('one A at 60 came after 120')
})

test('bars sent after the reply must arrive, bars sent before it need not', () => {
  expect(checkSocket(record([pushed(180)], { subscribedMs: 250 }), minutes)).toEqual([])
  expect(checkSocket(record([pushed(180)], { subscribedMs: 150 }), minutes)).toEqual([
    'one A at 120 is neither delivered nor named',
  ])
  expect(
    checkSocket(record([pushed(180)], { subscribedMs: 250, since: new Map([['A', 60]]) }), minutes),
  ).toEqual(['one A at 120 is neither delivered nor named'])
})

test('bars missed between two sockets must be in history', () => {
  const filled = (times: readonly number[]) => new Map([['A', { after: 60, times: new Set(times) }]])
  const seen = [pushed(240)]
  expect(checkSocket(record(seen, { subscribedMs: 350, filled: filled([120, 180]) }), minutes)).toEqual([])
  expect(checkSocket(record(seen, { subscribedMs: 350, filled: filled([180]) }), minutes)).toEqual([
    'one A at 120 is neither pushed nor in history',
  ])
})

test('a socket without the newest minute has not caught up, unless a GAP names it', () => {
  expect(isCaughtUp(record([pushed(240)]), minutes)).toBe(true)
  expect(isCaughtUp(record([pushed(180)]), minutes)).toBe(false)
  expect(isCaughtUp(record([pushed(180), gap(180, Number.POSITIVE_INFINITY)]), minutes)).toBe(true)
  expect(isCaughtUp(record([], { subscribedMs: 450 }), minutes)).toBe(true)
})

test('a pushed bar that was never sent, is not in history or is older there is a complaint', () => {
  const shown = new Map([['A', [bar(60, 5)]]])
  const one = record([{ type: 'bar', symbol: 'A', bar: bar(60, 5) }])
  expect(checkPushed(one, shown, () => true)).toEqual([])
  expect(checkPushed(one, shown, () => false)).toHaveLength(1)
  expect(checkPushed(one, new Map(), () => true)).toEqual(['one A at 60: pushed and not in history'])
  expect(checkPushed(one, new Map([['A', [bar(60, 4)]]]), () => true)).toHaveLength(1)
  expect(checkPushed(one, new Map([['A', [bar(60, 6)]]]), () => true)).toEqual([])
})
