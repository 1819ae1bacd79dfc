import { afterEach, beforeEach, expect } from 'vitest'
import type { TerminalEndpoint } from '../../../services/collector/sources/terminal/endpoint/endpoint-deps.ts'
import { serveTerminals } from '../../../services/collector/sources/terminal/endpoint/serve-terminals.ts'
import { TerminalSource } from '../../../services/collector/sources/terminal/terminal-source.ts'
import { silentLog } from '../../../services/platform/log/log.ts'
import { createMetrics } from '../../../services/platform/metrics.ts'
import { CollectorFixture } from '../../support/fixtures/collector-fixture.ts'
import { terminalToken } from '../../support/fixtures/terminal-fixture.ts'
import { minute } from './market.ts'
import { TerminalDouble } from './terminal-double.ts'

/** Timeout for a busy machine. */
const patience = { timeout: 15_000, interval: 20 }

/** Bridges against collector and ingest: the endpoint over real HTTP, the time from the virtual clock. */
export class TerminalSuite {
  readonly collectors: CollectorFixture
  readonly #terminals: TerminalDouble[] = []
  #endpoint: TerminalEndpoint | undefined
  #source: TerminalSource | undefined

  constructor(more: object = {}) {
    this.collectors = new CollectorFixture({ source: { type: 'Terminal' }, depth: { '1': '6h' }, ...more })
    beforeEach(() => this.#collect(0))
    afterEach(async () => {
      const defects = await Promise.all(this.#terminals.splice(0).map((each) => each.stop()))
      await this.#endpoint?.close(0)
      if (defects.join('') !== '') throw new Error(defects.join('\n'))
    })
  }

  begin(role: '0' | '1' | '2' = '0'): TerminalDouble {
    const { clock } = this.collectors
    const address = `http://127.0.0.1:${this.#endpoint?.port}`
    const terminal = new TerminalDouble({ clock, address, token: terminalToken, role })
    this.#terminals.push(terminal)
    return terminal
  }

  /** As a new process of the collector: it knows nothing of before. */
  async restartCollector(): Promise<void> {
    const port = this.#endpoint?.port ?? 0
    await this.#endpoint?.close(0)
    await this.collectors.stop()
    await this.#collect(port)
  }

  /** Waits until all bars that have closed by now are stored with their last value, once, and covered. */
  async whole(terminal: TerminalDouble, raw = 'EURUSD.z', oldest = 0): Promise<void> {
    const name = raw.replace('.z', '')
    const end = terminal.now - (terminal.now % minute)
    const from = Math.max(oldest, this.collectors.noon - 5 * 3600)
    const expected = () => terminal.bars(raw, from, end).map(({ fields }) => fields.slice(0, 6).join(' '))
    const stored = async () =>
      (await this.collectors.stored(name))
        .filter(({ time }) => time >= from && time < end)
        .map(({ time, open, high, low, close, volume }) =>
          [time, ...[open, high, low, close].map((each) => each.toFixed(5)), volume].join(' '),
        )
    await expect.poll(async () => (await stored()).join('\n'), patience).toBe(expected().join('\n'))
    const covered = async () =>
      (await this.collectors.covered(name))
        .map(([begin, to]) => [Math.max(begin, from), Math.min(to, end)])
        .filter(([begin = 0, to = 0]) => begin < to)
    await expect.poll(covered, patience).toEqual([[Math.max(from, terminal.since.get(raw) ?? 0), end]])
    this.#onceAndClosed(terminal)
  }

  /** No bar was pushed twice or while it formed. */
  #onceAndClosed(terminal: TerminalDouble): void {
    const pushed = this.collectors.fixture.events.flatMap(({ event }) =>
      event.type === 'bars' ? event.bars.map(({ symbol, bar }) => `${symbol} ${bar.time}`) : [],
    )
    expect(pushed.filter((each, at) => pushed.indexOf(each) !== at)).toEqual([])
    const newest = Math.max(0, ...pushed.map((each) => Number(each.split(' ')[1])))
    expect(newest + minute).toBeLessThanOrEqual(terminal.now)
  }

  async #collect(port: number): Promise<void> {
    const { feed, clock } = this.collectors
    const source = new TerminalSource({ definition: feed, clock, log: silentLog })
    this.#source = source
    this.#endpoint = await serveTerminals({
      address: { host: '127.0.0.1', port },
      isPlainAllowed: false,
      trustedProxies: [],
      feedOf: (token) => (token === terminalToken ? feed.key : undefined),
      terminalOf: () => this.#source,
      clock,
      log: silentLog,
      metrics: createMetrics({ ofProcess: false }),
    })
    this.collectors.collect(source)
  }
}
