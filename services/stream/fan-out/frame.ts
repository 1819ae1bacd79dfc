import type { Bar } from '../../core/bars/bar.ts'
import type { CompoundKey } from '../../core/feeds/compound-key.ts'

/** One or more finished WebSocket frames with one character per byte, to be written as `latin1`. */
export type Frames = string

const finalText = 0x81
const finalPong = 0x8a
const twoByteLength = 126
const eightByteLength = 127

function header(length: number): string {
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
