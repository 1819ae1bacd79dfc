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
  type IngestFixture,
  openIngestFixture,
  testToken,
} from '../../support/fixtures/ingest-fixture.ts'
import { freePorts } from '../../support/free-ports.ts'
import { bareEnv } from '../../support/processes/bare-env.ts'
import { oneSymbolFeed, simulated } from '../../support/samples/one-symbol-feed.ts'
import { countInLog, untilLoggedAgain } from '../support/log-messages.ts'

const repository = fileURLToPath(new URL('../../..', import.meta.url))
/** Deadline of a takeover: 15 s by design, and 10 s for a busy machine. */
const takeoverMs = 15_000 + 10_000
const startMs = 60_000

const feed = defineFeed({
  resolutions: ['1'],
  symbols: { list: [{ raw: 'BTCUSD', type: 'crypto', digits: 2 }] },
})

/** A real `fxd collector` with a token of its feed, behind a separate proxy. */
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

  /** Number of log messages that begin with these words, over all its runs. */
  logged = (words: string): number => countInLog(this.#program.log, words)

  /** Resolves once the log has more such messages than `before`; returns the waiting time in ms. */
  untilLogged = (words: string, before: number, deadlineMs: number): Promise<number> =>
    untilLoggedAgain(this.#program.log, words, before, deadlineMs)
}

const collecting = 'collecting"'
const standby = 'standing by'

test(
  'the standby collector takes over within 15 s when the active one is killed, frozen or cut off',
  async () => {
    const home = mkdtempSync(join(tmpdir(), 'fxd-takeover-'))
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    const fixture = await openIngestFixture([feed])
    onTestFinished(() => fixture.remove())
    writeFileSync(join(home, 'feeds.yaml'), oneSymbolFeed(simulated))
    const until = utcMs(systemClock.utcMs() + 3_600_000)
    writeFileSync(
      join(home, 'feed-token'),
      await createFeedTokens(() => [testToken], systemClock).issue([feed.key], until),
    )
    const accepted = (): Promise<number> =>
      fixture.metrics.total('fxd_ingest_bars_total', { outcome: 'accepted' })

    const one = await Collector.start('one', fixture, home)
    await one.untilLogged(collecting, 0, startMs)
    const two = await Collector.start('two', fixture, home)
    await two.untilLogged(standby, 0, startMs)

    /** Harms the active collector; returns the time in ms until the other collected. */
    const takeover = async (other: Collector, harm: () => Promise<void> | void): Promise<number> => {
      const before = other.logged(collecting)
      await harm()
      return other.untilLogged(collecting, before, takeoverMs)
    }

    const took: Record<string, number> = {}
    took.killed = await takeover(two, one.kill)
    let standbyBefore = one.logged(standby)
    await one.start()
    await one.untilLogged(standby, standbyBefore, startMs)

    took.frozen = await takeover(one, two.freeze)
    standbyBefore = two.logged(standby)
    two.thaw()
    await two.untilLogged(standby, standbyBefore, startMs)

    // The proxy drops everything in both directions without closing the connection.
    took.cut = await takeover(two, () =>
      one.proxy.set({ up: { kind: 'swallow' }, down: { kind: 'swallow' } }),
    )
    standbyBefore = one.logged(standby)
    one.proxy.set({})
    one.proxy.reset()
    await one.untilLogged(standby, standbyBefore, startMs)

    console.info(`takeovers in ms: ${JSON.stringify(took)}`)
    expect(await accepted()).toBeGreaterThan(1_000)
    const { text } = await fixture.metrics.render()
    expect(text).toContain('fxd_ingest_sessions{mode="live"} 2')
  },
  4 * startMs,
)
