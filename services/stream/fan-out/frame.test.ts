import type { Writable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as ws from 'ws'
import type { Bar } from '../../core/bars/bar.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { compoundKey, feedKey } from '../../core/feeds/compound-key.ts'
import { barFrame, barPrefix, type Frames, textFrame } from './frame.ts'

/** The frame parser of a client library; exported, but missing in its types. */
const { Receiver } = ws as unknown as { Receiver: new (options: { isServer: boolean }) => Writable }

/** The messages in the bytes, parsed by a client library. */
function read(frames: Frames): string[] {
  const found: string[] = []
  const receiver = new Receiver({ isServer: false })
  receiver.on('message', (data: Buffer, isBinary: boolean) => found.push(isBinary ? 'binary' : String(data)))
  receiver.on('error', (error: Error) => found.push(error.message))
  receiver.write(Buffer.from(frames, 'latin1'))
  return found
}

test('a text of any length is read back unchanged', () => {
  for (const length of [0, 1, 125, 126, 127, 65_535, 65_536, 70_000]) {
    expect(read(textFrame('x'.repeat(length)))).toEqual(['x'.repeat(length)])
    expect(read(textFrame('é€😀'.repeat(length)))).toEqual(['é€😀'.repeat(length)])
  }
})

test('joined frames are read one after the other', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' })), (texts) => {
      expect(read(texts.map(textFrame).join(''))).toEqual(texts)
    }),
  )
})

test('a bar frame is JSON with the fields in order and the numbers as `JSON.stringify` writes them', () => {
  const number = fc.double({ noNaN: true, noDefaultInfinity: true })
  const bar = fc.record({
    time: fc.maxSafeInteger().map(feedSeconds),
    open: number,
    high: number,
    low: number,
    close: number,
    volume: fc.maxSafeNat(),
  })
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), bar, (name, value: Bar) => {
      const symbol = compoundKey(feedKey('BROKERA', 'ZERO'), name)
      const { time, open, high, low, close, volume } = value
      expect(read(barFrame(barPrefix(symbol), value))).toEqual([
        JSON.stringify({ type: 'bar', symbol, bar: { time, open, high, low, close, volume } }),
      ])
    }),
  )
})
