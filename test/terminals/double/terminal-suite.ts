import { afterEach, beforeEach } from 'vitest'
import type { TerminalEndpoint } from '../../../services/collector/sources/terminal/endpoint/endpoint-deps.ts'
import { serveTerminals } from '../../../services/collector/sources/terminal/endpoint/serve-terminals.ts'
import { TerminalSource } from '../../../services/collector/sources/terminal/terminal-source.ts'
import { silentLog } from '../../../services/platform/log/log.ts'
import { createMetrics } from '../../../services/platform/metrics.ts'
import { CollectorFixture } from '../../support/fixtures/collector-fixture.ts'
import { terminalToken } from '../../support/fixtures/terminal-fixture.ts'
import { minute } from './market.ts'
import { TerminalDouble } from './terminal-double.ts'

const raw = 'EURUSD.z'
type StoredBar = Awaited<ReturnType<CollectorFixture['stored']>>[number]

interface Stored {
  readonly bars: readonly string[]
  readonly covered: readonly (readonly [number, number])[]
  readonly pushedTwice: readonly number[]
  readonly pushedOpen: readonly number[]
}

const text = ({ time, open, high, low, close, volume }: StoredBar): string =>
  [time, ...[open, high, low, close].map((each) => each.toFixed(5)), volume].join(' ')

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

  /** Start of the hours that are compared: the depth is counted from the begin of the collector. */
  get from(): number {
    return this.collectors.noon - 5 * 3600
  }

  /** What must be stored before `end`: the last value of each bar, once, covered and pushed once at most. */
  wanted(terminal: TerminalDouble, end: number): Stored {
    const bars = terminal.bars(raw, this.from, end).map(({ fields }) => fields.slice(0, 6).join(' '))
    return { bars, covered: [[this.from, end]], pushedTwice: [], pushedOpen: [] }
  }

  async stored(terminal: TerminalDouble, end: number): Promise<Stored> {
    const { from } = this
    const stored = await this.collectors.stored()
    const covered = await this.collectors.covered('EURUSD')
    const pushed = this.collectors.pushed()
    return {
      bars: stored.filter(({ time }) => time >= from && time < end).map(text),
      covered: covered
        .map(([begin, to]): [number, number] => [Math.max(begin, from), Math.min(to, end)])
        .filter(([begin, to]) => begin < to),
      pushedTwice: pushed.filter((time, at) => pushed.indexOf(time) !== at),
      pushedOpen: pushed.filter((time) => time + minute > terminal.now),
    }
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
