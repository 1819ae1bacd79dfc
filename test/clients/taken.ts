import type { BarStream, FxdError, Item } from '../../clients/typescript/src/index.ts'
import type { Bar } from '../acceptance/client/bars.ts'
import { until } from '../acceptance/client/until.ts'

/** Takes items of a stream until the stream ends, and keeps them. */
export class Taken<I extends Item> {
  readonly items: I[] = []
  readonly ended: Promise<FxdError | undefined>
  readonly #stream: BarStream<I>

  constructor(stream: BarStream<I>) {
    this.#stream = stream
    opened.push(this)
    this.ended = this.#takeAll().then(
      () => undefined,
      (error: unknown) => error as FxdError,
    )
  }

  async #takeAll(): Promise<void> {
    for await (const item of this.#stream) this.items.push(item)
  }

  get stream(): BarStream<I> {
    return this.#stream
  }

  /** Bars of a symbol as history has them. */
  bars(symbol: string): Bar[] {
    return this.items.flatMap((item) => {
      if (item.type !== 'bar' || item.symbol !== symbol) return []
      const { time, open, high, low, close, volume } = item
      return [{ time, open, high, low, close, volume }]
    })
  }

  async untilBars(symbol: string, count: number, deadlineMs = 40_000): Promise<Bar[]> {
    await until(`${count} bars of ${symbol}`, () => this.bars(symbol).length >= count, deadlineMs).catch(
      (error: unknown) => {
        throw new Error(`${String(error)}; ${this.bars(symbol).length} came`)
      },
    )
    return this.bars(symbol)
  }

  async end(): Promise<void> {
    await this.#stream.return()
    await this.ended
  }
}

const opened: Taken<Item>[] = []

/** For `afterEach`. */
export const endStreams = async (): Promise<void> => {
  await Promise.all(opened.splice(0).map((each) => each.end()))
}
