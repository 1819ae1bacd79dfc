import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import { Encoded } from './encoded.ts'
import { barsPrefix, header } from './frame.ts'

/** Maximum bars of one frame. */
const barsPerFrameMax = 1_000

/** Some symbols of a list as one frame. */
interface FrameOfBars {
  readonly symbols: Uint32Array
  readonly header: string
  /** Bytes of the frame. */
  readonly length: number
}

/** The bars of one feed and one time, for sockets that get many bars in a frame. */
export class BarList {
  readonly feed: FeedKey
  readonly time: FeedSeconds
  readonly entries = new Encoded()
  readonly #prefix: Buffer
  #whole: Buffer | undefined

  constructor(feed: FeedKey, time: FeedSeconds) {
    this.feed = feed
    this.time = time
    this.#prefix = Buffer.from(barsPrefix(feed, time), 'latin1')
  }

  /** The frames of these symbols, as few as possible. */
  frames(symbols: Uint32Array): FrameOfBars[] {
    const frames: FrameOfBars[] = []
    for (let at = 0; at < symbols.length; at += barsPerFrameMax)
      frames.push(this.#frame(symbols.subarray(at, at + barsPerFrameMax)))
    return frames
  }

  /** The frames of all symbols: most sockets with this format have whole feeds, and share these bytes. */
  get whole(): Buffer {
    if (this.#whole) return this.#whole
    const frames = this.frames(Uint32Array.from(this.entries.symbols))
    const whole = Buffer.allocUnsafeSlow(frames.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const frame of frames) at = this.copy(frame, whole, at)
    this.#whole = whole
    return whole
  }

  /** Returns the place behind the copied frame. */
  copy({ symbols, header: beginning }: FrameOfBars, into: Buffer, start: number): number {
    let at = start + into.write(beginning, start, 'latin1')
    into.set(this.#prefix, at)
    at = this.entries.copy(symbols, into, at + this.#prefix.length)
    // The comma behind the last bar gives way.
    return at - 1 + into.write(']}', at - 1, 'latin1')
  }

  #frame(symbols: Uint32Array): FrameOfBars {
    const payload = this.#prefix.length + this.entries.lengthOf(symbols) + 1
    const beginning = header(payload)
    return { symbols, header: beginning, length: beginning.length + payload }
  }
}
