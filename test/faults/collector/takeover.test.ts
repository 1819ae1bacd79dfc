import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { utcMs } from '../../../services/core/clocks/feed-clock.ts'
import { createFeedTokens } from '../../../services/ingest/credentials/feed-tokens.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { openTcpProxy, type TcpProxy } from '../../support/clients/tcp-proxy.ts'
import { statusOf } from '../../support/cluster/answers.ts'
import { Program } from '../../support/cluster/program.ts'
import {
  defineFeed,
  houseToken,
  type IngestFixture,
  startIngest,
} from '../../support/fixtures/ingest-fixture.ts'
import { freePorts } from '../../support/free-ports.ts'
import { bareEnv } from '../../support/processes/bare-env.ts'
import { oneSymbolFeed, simulated } from '../../support/samples/one-symbol-feed.ts'
import { saidAgain, timesSaid } from '../support/said-in-log.ts'

const repository = fileURLToPath(new URL('../../..', import.meta.url))
/** As the design promises, and what a machine that is busy with other tests may add. */
const takeoverMs = 15_000 + 10_000
const startMs = 60_000

const feed = defineFeed({
  resolutions: ['1'],
  symbols: { list: [{ raw: 'BTCUSD', type: 'crypto', digits: 2 }] },
})

/** A real `fxd collector` with a token of its feed, behind a proxy of its own. */
class Collector {
  readonly proxy: TcpProxy
  readonly #program: Program

  private constructor(program: Program, proxy: TcpProxy) {
    this.#program = program
    this.proxy = proxy
  }

  static async start(name: string, fixture: IngestFixture, home: string): Promise<Collector> {
    const proxy = await openTcpProxy({ host: '127.0.0.1', port: fixture.port })
    const [opsPort = 0] = await freePorts(1)
    const program = new Program({
      name,
      command: join(repository, 'bin/node'),
      args: [join(repository, 'services/main.ts'), 'collector'],
      env: {
        ...bareEnv(),
        FXD_FEEDS: join(home, 'feeds.yaml'),
        FXD_INGEST: `${proxy.host}:${proxy.port}`,
        FXD_TOKEN_FILE: join(home, 'feed-token'),
        FXD_DATA_DIR: join(home, name),
        FXD_OPS_ADDR: `127.0.0.1:${opsPort}`,
      },
      log: join(home, `${name}.log`),
      isReady: async () => (await statusOf(opsPort, '/readyz')) === 200,
    })
    const collector = new Collector(program, proxy)
    onTestFinished(async () => {
      await collector.end()
      await proxy.close()
    })
    await program.start()
    return collector
  }

  async end(): Promise<void> {
    this.#program.thaw()
    await this.#program.kill()
  }

  kill = (): Promise<void> => this.#program.kill()
  start = (): Promise<void> => this.#program.start()
  freeze = (): Promise<void> => this.#program.freeze()
  thaw = (): void => this.#program.thaw()

  /** How often it has said so, over all its lives. */
  said = (words: string): number => timesSaid(this.#program.log, words)

  /** Resolves when it has said it once more than `before`; gives how long that took. */
  says = (words: string, before: number, deadlineMs: number): Promise<number> =>
    saidAgain(this.#program.log, words, before, deadlineMs)
}

const collecting = 'collecting"'
const standsBy = 'stands by'

test(
  'of two collectors the standby takes over within 15 s, however the active one dies',
  async () => {
    const home = mkdtempSync(join(tmpdir(), 'fxd-takeover-'))
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    const fixture = await startIngest([feed])
    onTestFinished(() => fixture.remove())
    writeFileSync(join(home, 'feeds.yaml'), oneSymbolFeed(simulated))
    const until = utcMs(systemClock.utcMs() + 3_600_000)
    writeFileSync(
      join(home, 'feed-token'),
      await createFeedTokens(() => [houseToken], systemClock).issue([feed.key], until),
    )
    const accepted = (): Promise<number> =>
      fixture.metrics.total('fxd_ingest_bars_total', { outcome: 'accepted' })

    const one = await Collector.start('one', fixture, home)
    await one.says(collecting, 0, startMs)
    const two = await Collector.start('two', fixture, home)
    await two.says(standsBy, 0, startMs)

    /** Harms the active one; gives how long it took until the other collected. */
    const takeover = async (other: Collector, harm: () => Promise<void> | void): Promise<number> => {
      const before = other.said(collecting)
      await harm()
      return other.says(collecting, before, takeoverMs)
    }

    const took: Record<string, number> = {}
    took.killed = await takeover(two, one.kill)
    let stood = one.said(standsBy)
    await one.start()
    await one.says(standsBy, stood, startMs)

    took.frozen = await takeover(one, two.freeze)
    stood = two.said(standsBy)
    two.thaw()
    await two.says(standsBy, stood, startMs)

    // Nothing passes any more, in neither direction, and nobody says so.
    took.cut = await takeover(two, () =>
      one.proxy.set({ up: { kind: 'swallow' }, down: { kind: 'swallow' } }),
    )
    stood = one.said(standsBy)
    one.proxy.set({})
    one.proxy.reset()
    await one.says(standsBy, stood, startMs)

    console.info(`takeovers in ms: ${JSON.stringify(took)}`)
    expect(await accepted()).toBeGreaterThan(1_000)
    const { text } = await fixture.metrics.render()
    expect(text).toContain('fxd_ingest_sessions{mode="live"} 2')
  },
  4 * startMs,
)
