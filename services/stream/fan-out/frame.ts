import type { Bar } from '../../core/bars/bar.ts'
import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import { type CompoundKey, type FeedKey, feedOf } from '../../core/feeds/compound-key.ts'

/** One or more finished WebSocket frames with one character per byte, to be written as `latin1`. */
export type Frames = string

const finalText = 0x81
const finalPong = 0x8a
const twoByteLength = 126
const eightByteLength = 127

/** The bytes before a payload of this length. */
export function header(length: number): string {
  if (length < twoByteLength) return String.fromCharCode(finalText, length)
  if (length < 0x1_0000) return String.fromCharCode(finalText, twoByteLength, length >> 8, length & 0xff)
  const low = [24, 16, 8, 0].map((shift) => (length >>> shift) & 0xff)
  return String.fromCharCode(finalText, eightByteLength, 0, 0, 0, 0, ...low)
}

/** UTF-8 bytes as characters. */
const bytesOf = (text: string): string => Buffer.from(text).toString('latin1')

/** A text message as an unmasked frame. */
export function textFrame(text: string): Frames {
  const payload = bytesOf(text)
  return header(payload.length) + payload
}

/** The answer to a ping, whose payload has at most 125 bytes. */
export const pongFrame = (payload: Buffer): Frames =>
  String.fromCharCode(finalPong, payload.length) + payload.toString('latin1')

/** The beginning of every bar frame of a symbol, made once per symbol. */
export const barPrefix = (symbol: CompoundKey): string =>
  bytesOf(`{"type":"bar","symbol":${JSON.stringify(symbol)},"bar":{"time":`)

/** The frame of one closed bar; numbers are written as in `/v1/history`. */
export function barFrame(prefix: string, bar: Bar): Frames {
  const payload =
    `${prefix}${bar.time},"open":${bar.open},"high":${bar.high},"low":${bar.low}` +
    `,"close":${bar.close},"volume":${bar.volume}}}`
  return header(payload.length) + payload
}

/** The beginning of a message with the bars of one feed and one time. */
export const barsPrefix = (feed: FeedKey, time: FeedSeconds): string =>
  bytesOf(`{"type":"bars","feed":${JSON.stringify(feed)},"time":${time},"bars":[`)

/** The beginning of every entry of a symbol in such messages, made once per symbol. */
export const entryPrefix = (symbol: CompoundKey): string =>
  bytesOf(`[${JSON.stringify(symbol.slice(feedOf(symbol).length + 1))},`)

/** One bar in such a message, with the comma before the next one. */
export const barEntry = (prefix: string, { open, high, low, close, volume }: Bar): Frames =>
  `${prefix}${open},${high},${low},${close},${volume}],`

/** The frame of one bar in such a message. */
export function barsFrame(prefix: string, entry: Frames): Frames {
  const payload = `${prefix}${entry.slice(0, -1)}]}`
  return header(payload.length) + payload
}
