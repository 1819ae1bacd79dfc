import type { Bar } from '../core/bars/bar.ts'
import type { FeedSeconds } from '../core/clocks/feed-clock.ts'
import { within } from '../platform/within.ts'
import type { Clock } from '../ports/clock.ts'
import type { CanaryMetrics } from './metrics.ts'

const timeoutMs = 10_000
const answerBytesMax = 1_048_576

export interface RestClientDeps {
  /** Base URL of REST, without a slash at its end. */
  readonly url: string
  /** Called for each request, because the file of the key may be replaced. */
  readonly key: () => string
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly metrics: Pick<CanaryMetrics, 'requests'>
}

interface History {
  readonly s: string
  readonly t?: readonly number[]
  readonly o?: readonly number[]
  readonly h?: readonly number[]
  readonly l?: readonly number[]
  readonly c?: readonly number[]
  readonly v?: readonly number[]
}

interface Status {
  readonly feeds: Readonly<Record<string, { readonly clock_offset_seconds?: number }>>
}

/** The REST requests of the canary. A call rejects after 10 s without an answer, or with a status other than 200. */
export class RestClient {
  readonly #deps: RestClientDeps

  constructor(deps: RestClientDeps) {
    this.#deps = deps
  }

  /** The newest M1 bars of a compound key, oldest first. */
  async newestBars(symbol: string, count: number): Promise<readonly Bar[]> {
    const query = new URLSearchParams({ symbol, resolution: '1', countback: String(count) })
    const {
      s,
      t = [],
      o = [],
      h = [],
      l = [],
      c = [],
      v = [],
    } = await this.#request<History>('history', query)
    if (s !== 'ok' && s !== 'no_data') throw new Error(`history answered with s: ${s}`)
    return t.map((time, i) => ({
      time: time as FeedSeconds,
      open: o[i] as number,
      high: h[i] as number,
      low: l[i] as number,
      close: c[i] as number,
      volume: v[i] as number,
    }))
  }

  /** By feed, `real_utc - feed_timestamp` in seconds, where it is known. */
  async clockOffsets(): Promise<ReadonlyMap<string, number>> {
    const { feeds } = await this.#request<Status>('status', new URLSearchParams())
    return new Map(
      Object.entries(feeds).flatMap(([feed, { clock_offset_seconds: offset }]) =>
        offset === undefined ? [] : [[feed, offset]],
      ),
    )
  }

  async #request<T>(route: 'history' | 'status', query: URLSearchParams): Promise<T> {
    const { url, key, clock, metrics, signal } = this.#deps
    const timeout = new AbortController()
    let status = 'none'
    const answer = async (): Promise<T> => {
      const got = await fetch(`${url}/v1/${route}?${query.toString()}`, {
        headers: { 'X-API-Key': key() },
        // The key must not be sent to another address.
        redirect: 'error',
        signal: AbortSignal.any([signal, timeout.signal]),
      })
      status = String(got.status)
      const text = await textOf(got)
      if (got.status !== 200) throw new Error(`${route} answered ${status}: ${text.slice(0, 200)}`)
      return JSON.parse(text) as T
    }
    try {
      return await within(clock, timeoutMs, route, answer(), () => timeout.abort())
    } finally {
      metrics.requests.inc({ route, status })
    }
  }
}

async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of response.body ?? []) {
    text += decoder.decode(piece as Uint8Array, { stream: true })
    if (text.length > answerBytesMax) throw new Error('an answer is longer than 1 MiB')
  }
  return text + decoder.decode()
}
