import type { SessionClient } from '../../../services/collector/connection/session-client.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { compoundKey } from '../../../services/core/feeds/compound-key.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { market, marketSymbols } from '../minute/market.ts'
import { monotonicMs } from '../minute/monotonic.ts'
import type { Subject } from '../minute/subjects.ts'
import { visibleAt } from '../minute/visible.ts'
import { WatchedSocket } from './watched-socket.ts'

const ackDeadlineMs = 20_000
const coverageDeadlineMs = 10_000
const sinceDeadlineMs = 10_000
const sinceSymbols = marketSymbols.slice(0, 100)
export const sinceBars = 3 * sinceSymbols.length

interface ServedMinutesDeps {
  readonly subject: Subject
  readonly sessions: readonly SessionClient[]
  readonly key: string
  /** The address of a socket. */
  readonly url: string
}

/** What users get of each minute while a table of other bars is out of order: Acks, windows, history and replays. */
export class ServedMinutes {
  readonly #deps: ServedMinutesDeps
  readonly visibleMs: number[] = []
  readonly coveredMs: number[] = []
  readonly sinceCounts: number[] = []
  sinceGaps = 0

  constructor(deps: ServedMinutesDeps) {
    this.#deps = deps
  }

  /** Throws if the minute is not acknowledged, visible and covered in time. */
  async check(minute: number, acks: Promise<unknown>): Promise<void> {
    const { subject, sessions, key } = this.#deps
    const begun = monotonicMs()
    await inTime('the bars of one minute', acks)
    this.visibleMs.push((await visibleAt(subject.readers, key, minute)) - begun)
    const span = { from: feedSeconds(minute), to: feedSeconds(minute + 60) }
    const claimed = { symbol: '', resolution: '1', ...span } as const
    await inTime('the windows', Promise.all(sessions.map((session) => session.window(claimed))))
    await this.#expectCoverage(minute)
    this.coveredMs.push(monotonicMs() - begun)
    await this.#resume(minute)
  }

  /** On all pods, for the last symbol of each feed. */
  async #expectCoverage(minute: number): Promise<void> {
    const { subject, key } = this.#deps
    const end = monotonicMs() + coverageDeadlineMs
    for (const port of Object.values(subject.readers))
      for (const { feed, names } of market) {
        const url = `http://127.0.0.1:${port}/v1/coverage?symbol=${compoundKey(feed, names.at(-1) as string)}`
        for (;;) {
          const answer = (await (await fetch(url, { headers: { 'X-API-Key': key } })).json()) as Covered
          if (answer.coverage?.at(-1)?.to === minute) break
          if (monotonicMs() > end)
            throw new Error(`${url} ends with ${JSON.stringify(answer)}, not ${minute}`)
          await systemClock.sleep(25)
        }
      }
  }

  /** A client that missed three minutes requests them. */
  async #resume(minute: number): Promise<void> {
    const since = Object.fromEntries(sinceSymbols.map((symbol) => [symbol, minute - 180]))
    const socket = await WatchedSocket.open(this.#deps.url, sinceSymbols, since)
    const end = monotonicMs() + sinceDeadlineMs
    while (socket.count < sinceBars && monotonicMs() < end) await systemClock.sleep(25)
    this.sinceCounts.push(socket.count)
    this.sinceGaps += socket.gaps
    socket.close()
  }
}

interface Covered {
  readonly coverage?: readonly { readonly to: number }[]
}

async function inTime(what: string, acks: Promise<unknown>): Promise<void> {
  const late = systemClock
    .sleep(ackDeadlineMs)
    .then(() => Promise.reject(new Error(`${what} had no Ack after ${ackDeadlineMs} ms`)))
  await Promise.race([acks, late])
}
