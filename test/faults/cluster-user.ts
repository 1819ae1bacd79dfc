import http from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

const answerMsMax = 10_000

export interface UserAnswer {
  /** 0: no answer came, so nobody knows whether it was counted. */
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly body: unknown
}

/** Asks through the load balancer, over a connection of its own. */
export const ask = (port: number, path: string, key: string): Promise<UserAnswer> =>
  new Promise((resolve) => {
    const none: UserAnswer = { status: 0, headers: {}, body: undefined }
    const headers = { 'x-api-key': key }
    const request = http.get({ host: '127.0.0.1', port, path, agent: false, headers }, (response) => {
      const parts: Buffer[] = []
      response.on('error', () => resolve(none))
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () => {
        const text = String(Buffer.concat(parts))
        const isJson = /^application\/json\b/.test(response.headers['content-type'] ?? '')
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: isJson ? JSON.parse(text) : text,
        })
      })
      response.on('close', () => resolve(none))
    })
    request.setTimeout(answerMsMax, () => request.destroy())
    request.on('error', () => resolve(none))
  })

/** Calls again and again until it is stopped. */
export class Repeated {
  #isOver = false
  readonly #running: Promise<unknown>

  constructor(lanes: number, periodMs: number, once: () => Promise<void>) {
    const lane = async (): Promise<void> => {
      while (!this.#isOver) {
        await once()
        await pause(periodMs)
      }
    }
    this.#running = Promise.all(Array.from({ length: lanes }, lane))
    this.#running.catch(() => undefined)
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#running
  }
}

/** Asks for bars all the time. What no failure excuses is noted. */
export class HistoryUser {
  readonly statuses = new Map<number, number>()
  readonly strange: string[] = []
  readonly #repeated: Repeated

  constructor(port: number, key: string, paths: () => string) {
    this.#repeated = new Repeated(2, 100, async () => {
      const path = paths()
      const { status, body } = await ask(port, path, key)
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
      const { s, t = [] } = body === Object(body) ? (body as { s?: string; t?: number[] }) : {}
      // From 502 on the load balancer speaks, of a process that was killed.
      const isFine = status === 0 || status > 501 || (status === 500 && s === 'error')
      if (status === 200 && s === 'ok') {
        if (t.some((time, i) => time <= (t[i - 1] ?? -1))) this.strange.push(`${path} is not in order`)
      } else if (!isFine) this.strange.push(`${path} answered ${status} ${JSON.stringify(body)}`)
    })
  }

  stop = (): Promise<void> => this.#repeated.stop()
}

/** A request waits so long for Redis, then its pod decides by its share. */
const decisionMs = 1_000

/** Asks more than its key may, and counts by the end of the minute what was admitted. */
export class GreedyUser {
  readonly admitted = new Map<number, number>()
  readonly refused = new Map<number, number>()
  /** Of the admitted those that took as long as a decision without Redis does. */
  readonly slow = new Map<number, number>()
  readonly strange: string[] = []
  readonly #repeated: Repeated

  constructor(port: number, key: string) {
    this.#repeated = new Repeated(4, 60, async () => {
      const begun = performance.now()
      const { status, headers, body } = await ask(port, '/v1/status', key)
      const tookMs = performance.now() - begun
      const window = Number(headers['x-ratelimit-reset-minute'] ?? Number.NaN)
      if (Number.isNaN(window)) {
        if (status > 0 && status < 500)
          this.strange.push(`${status} without a window: ${JSON.stringify(body)}`)
        return
      }
      const count = (counts: Map<number, number>) => counts.set(window, (counts.get(window) ?? 0) + 1)
      count(status === 429 ? this.refused : this.admitted)
      if (status !== 429 && tookMs >= decisionMs) count(this.slow)
    })
  }

  stop = (): Promise<void> => this.#repeated.stop()
}

/** An outage of Redis, in Unix milliseconds. */
export interface Outage {
  readonly fromMs: number
  readonly untilMs: number
}

export interface RateRule {
  readonly rpm: number
  readonly pods: number
}

/** A pod learns within so long that Redis is back. */
const afterMs = 3_000

/**
 * Promise 4, a sentence for each minute in which more was admitted than may be: the limit; and for each
 * outage that touches the minute once more the limit and one per pod, and if Redis came back empty the
 * limit again. A request for which Redis answered too late, on a machine that is too busy, met an outage of its own.
 */
export function checkAdmitted(
  { admitted, slow }: Pick<GreedyUser, 'admitted' | 'slow'>,
  { rpm, pods }: RateRule,
  outages: readonly Outage[],
): string[] {
  return [...admitted].flatMap(([end, count]) => {
    const touching = outages.filter(
      ({ fromMs, untilMs }) => fromMs < end * 1_000 && untilMs + afterMs > (end - 60) * 1_000,
    )
    const late = Math.min(slow.get(end) ?? 0, rpm + pods)
    const most = rpm + late + touching.length * (2 * rpm + pods)
    return count > most ? [`until ${end} ${count} were admitted, ${most} at most`] : []
  })
}
