import { afterEach, beforeEach, vi } from 'vitest'
import { type CallStream, type Dial, dialGrpc } from '../../../services/collector/connection/dial.ts'
import type { TerminalEndpoint } from '../../../services/collector/sources/terminal/endpoint/endpoint-deps.ts'
import { serveTerminals } from '../../../services/collector/sources/terminal/endpoint/serve-terminals.ts'
import { openSpool, type Spool } from '../../../services/collector/spool/spool.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { silentLog } from '../../../services/platform/log/log.ts'
import { createMetrics } from '../../../services/platform/metrics.ts'
import { CollectorFixture, minutes } from '../../support/fixtures/collector-fixture.ts'
import { MemoryFolder } from '../../support/fixtures/memory-folder.ts'
import { spoolBounds } from '../../support/fixtures/spool-bounds.ts'
import { terminalToken } from '../../support/fixtures/terminal-fixture.ts'
import { createTerminalSource } from '../../support/fixtures/terminal-source-fixture.ts'
import { formingVolume, minute, textOf } from './market.ts'
import { TerminalDouble } from './terminal-double.ts'

/** Differences that are named. */
const differencesMax = 10

type StoredBar = Awaited<ReturnType<CollectorFixture['stored']>>[number]

interface RunningCollector {
  readonly endpoint: TerminalEndpoint
  readonly spool: Spool
  /** Ends all calls to ingest at once: nothing more is sent. */
  cut(): void
}

const text = ({ time, open, high, low, close, volume }: StoredBar): string =>
  [time, ...[open, high, low, close].map((each) => each.toFixed(5)), volume].join(' ')

/** The name of a symbol without the suffix of its account. */
const nameOf = (raw: string): string => raw.replace('.z', '')

/** Calls to ingest that can be cut, as by the end of their process. */
function cuttable(): { dial: Dial; cut: () => void } {
  const calls: CallStream[] = []
  let isCut = false
  const dial: Dial = (peer, listener) => {
    const call = dialGrpc(peer, {
      received: (message) => isCut || listener.received(message),
      over: (status) => listener.over(status),
    })
    calls.push(call)
    if (isCut) call.cancel()
    return { ...call, send: (message) => isCut || call.send(message) }
  }
  const cut = (): void => {
    isCut = true
    for (const call of calls) call.cancel()
  }
  return { dial, cut }
}

/** Bridges against collector and ingest: the endpoint over real HTTP, the time from the virtual clock. */
export class TerminalSuite {
  readonly collectors: CollectorFixture
  readonly patience = { timeout: 20_000, interval: 20 }
  readonly #terminals: TerminalDouble[] = []
  #running: RunningCollector | undefined
  #folder = new MemoryFolder()
  #port = 0
  #from = 0

  constructor() {
    this.collectors = new CollectorFixture({ source: { type: 'Terminal' } })
    beforeEach(() => void this.since(6 * 3600))
    afterEach(async () => {
      const defects = await Promise.all(this.#terminals.splice(0).map((each) => each.stop()))
      await this.#running?.endpoint.close(0)
      this.#running = undefined
      if (defects.join('') !== '') throw new Error(defects.join('\n'))
    })
  }

  /** Starts a terminal, and a collector if none runs. */
  async begin(role: '0' | '1' | '2' = '0'): Promise<TerminalDouble> {
    const { clock } = this.collectors
    if (!this.#running) {
      this.#folder = new MemoryFolder()
      await this.#collect(0)
    }
    const address = `http://127.0.0.1:${this.#port}`
    const terminal = new TerminalDouble({ clock, address, token: terminalToken, role })
    this.#terminals.push(terminal)
    return terminal
  }

  /** Lets the history of this test begin so many seconds before the test; returns when. */
  since(seconds: number): number {
    this.#from = this.begunAt - seconds
    return this.#from
  }

  /** When the test began, in seconds. */
  get begunAt(): number {
    return this.collectors.noon
  }

  /** Lets the terminal run for these minutes of its clock. */
  async minutesPass(terminal: TerminalDouble, count: number): Promise<void> {
    const end = terminal.now + count * minute
    await vi.waitUntil(() => terminal.now > end, { ...this.patience, timeout: 60_000 })
  }

  /** Lets the terminal run until all its faults are over, and three minutes more. Returns the end of its last whole minute. */
  async calm(terminal: TerminalDouble): Promise<number> {
    await vi.waitUntil(() => !terminal.isWaiting, { ...this.patience, timeout: 60_000 })
    await this.minutesPass(terminal, 3)
    return terminal.now - (terminal.now % minute)
  }

  /** Like `kill -9` of the collector, and its start. `random` decides what its disk keeps of unsynced data. */
  async killCollector(random: () => number): Promise<void> {
    this.#running?.cut()
    this.#folder = this.#folder.crash(random)
    await Promise.all([this.#running?.endpoint.close(0), this.collectors.stop()])
    await this.#running?.spool.close()
    await this.#collect(this.#port)
  }

  /** Like `kill -9` of ingest, and its start. */
  killIngest(): Promise<void> {
    return this.collectors.restart()
  }

  /**
   * How history before `end` differs from what the terminal could give: the last value of each bar once, all of them
   * covered. Empty: it does not; also names bars that were pushed twice or while they formed.
   */
  async differences(terminal: TerminalDouble, raw: string, end: number): Promise<readonly string[]> {
    const from = Math.max(this.#from, terminal.since.get(raw) ?? 0)
    const covered = JSON.stringify(await this.covered(raw, end))
    const whole = JSON.stringify([[from, end]])
    return [
      ...(await this.differentBars(terminal, raw, end)),
      ...(covered === whole ? [] : [`covered ${covered}, wanted ${whole}`]),
    ]
  }

  /** The same without coverage, from `since` on. */
  async differentBars(
    terminal: TerminalDouble,
    raw: string,
    end: number,
    since = Math.max(this.#from, terminal.since.get(raw) ?? 0),
  ): Promise<readonly string[]> {
    const wanted = terminal.bars(raw, since, end).map(textOf)
    const stored = (await this.collectors.stored(nameOf(raw))).filter(({ time }) => time < end).map(text)
    return [
      ...wanted.filter((bar) => !stored.includes(bar)).map((bar) => `missing ${bar}`),
      ...stored.filter((bar) => !wanted.includes(bar)).map((bar) => `stored ${bar}`),
      ...this.#pushedWrong(raw).map((bar) => `pushed ${bar}`),
    ].slice(0, differencesMax)
  }

  async covered(raw: string, end: number): Promise<readonly (readonly [number, number])[]> {
    const covered = await this.collectors.covered(nameOf(raw))
    return covered
      .map(([from, to]): [number, number] => [from, Math.min(to, end)])
      .filter(([from, to]) => from < to)
  }

  /** Minutes that are covered although no bar is stored. The double trades in every minute. */
  async coveredWithoutBars(raw: string): Promise<readonly number[]> {
    const name = nameOf(raw)
    const covered = await this.collectors.covered(name)
    const stored = new Set<number>((await this.collectors.stored(name)).map(({ time }) => time))
    return covered
      .flatMap(([from, to]) => minutes(Math.ceil(from / minute) * minute, to - (to % minute)))
      .filter((time) => !stored.has(time))
  }

  /** Bars that were pushed twice by this ingest, and those that were pushed with the values of a forming bar. */
  #pushedWrong(raw: string): readonly string[] {
    const { feed, fixture } = this.collectors
    const key = `${feed.key}:${nameOf(raw)}`
    const pushed = fixture.events.flatMap(({ event }) =>
      event.type === 'bars' ? event.bars.flatMap(({ symbol, bar }) => (symbol === key ? [bar] : [])) : [],
    )
    const times = pushed.map(({ time }) => time)
    return pushed
      .filter(({ time, volume }, at) => volume === formingVolume || times.indexOf(time) !== at)
      .map(text)
  }

  async #collect(port: number): Promise<void> {
    const { feed, clock } = this.collectors
    const definition = { ...feed, depth: { '1': { since: feedSeconds(this.#from) } } }
    const source = createTerminalSource(definition, clock)
    const spool = await openSpool({ folder: this.#folder, clock, log: silentLog, ...spoolBounds })
    const { dial, cut } = cuttable()
    const endpoint = await serveTerminals({
      address: { host: '127.0.0.1', port },
      isPlainAllowed: false,
      trustedProxies: [],
      feedOf: (token) => (token === terminalToken ? feed.key : undefined),
      terminalOf: () => source,
      acceptFailed: () => undefined,
      clock,
      log: silentLog,
      metrics: createMetrics({ ofProcess: false }),
    })
    this.#port = endpoint.port
    this.#running = { endpoint, spool, cut }
    this.collectors.collect(source, { definition, spool, dial })
  }
}
