import http from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { LimitedAnswer } from '../checks/check-limits.ts'

const answerMsMax = 10_000

export interface UserAnswer {
  /** 0 without an answer; it is then unknown whether the request was counted. */
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly body: unknown
}

/** Sends a request through the load balancer, over a separate connection. */
export const ask = (port: number, path: string, key: string): Promise<UserAnswer> =>
  answerOf((take) =>
    http.get({ host: '127.0.0.1', port, path, agent: false, headers: { 'x-api-key': key } }, take),
  )

/** The answer to a request that `begin` sends; status 0 when none is complete in 10 s. */
export const answerOf = (
  begin: (take: (response: http.IncomingMessage) => void) => http.ClientRequest,
): Promise<UserAnswer> =>
  new Promise((resolve) => {
    const none: UserAnswer = { status: 0, headers: {}, body: undefined }
    const request = begin((response) => {
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

/** Calls a function repeatedly, in `lanes` parallel loops with a pause, until it is stopped. */
export class RepeatedCalls {
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

/** Requests bars repeatedly and records answers that no fault explains. */
export class HistoryUser {
  readonly statuses = new Map<number, number>()
  readonly unexpected: string[] = []
  readonly #repeated: RepeatedCalls

  constructor(port: number, key: string, paths: () => string) {
    this.#repeated = new RepeatedCalls(2, 100, async () => {
      const path = paths()
      const { status, body } = await ask(port, path, key)
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
      const { s, t = [] } = body === Object(body) ? (body as { s?: string; t?: number[] }) : {}
      // The load balancer answers 502 and above for a killed process.
      const isFine = status === 0 || status > 501 || (status === 500 && s === 'error')
      if (status === 200 && s === 'ok') {
        if (t.some((time, i) => time <= (t[i - 1] ?? -1))) this.unexpected.push(`${path} is not in order`)
      } else if (!isFine) this.unexpected.push(`${path} answered ${status} ${JSON.stringify(body)}`)
    })
  }

  /** Number of answers with status 200. */
  get served(): number {
    return this.statuses.get(200) ?? 0
  }

  get wasServed(): boolean {
    return this.statuses.has(200)
  }

  stop = (): Promise<void> => this.#repeated.stop()
}

/** Sends more requests than its key is allowed. */
export class GreedyUser {
  readonly answers: LimitedAnswer[] = []
  readonly unexpected: string[] = []
  readonly #repeated: RepeatedCalls

  constructor(port: number, key: string) {
    this.#repeated = new RepeatedCalls(4, 60, async () => {
      const fromMs = Date.now()
      const { status, headers, body } = await ask(port, '/v1/status', key)
      const reset = Number(headers['x-ratelimit-reset-minute'] ?? Number.NaN)
      if (!Number.isNaN(reset))
        this.answers.push({ fromMs, untilMs: Date.now(), reset, isRefused: status === 429 })
      else if (status > 0 && status < 500)
        this.unexpected.push(`${status} without a window: ${JSON.stringify(body)}`)
    })
  }

  get refused(): number {
    return this.answers.filter(({ isRefused }) => isRefused).length
  }

  stop = (): Promise<void> => this.#repeated.stop()
}
