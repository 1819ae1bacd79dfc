import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { utcMs } from '../../../services/core/clocks/feed-clock.ts'
import { compoundKey } from '../../../services/core/feeds/compound-key.ts'
import { storageBucketsDefault } from '../../../services/core/feeds/feed.ts'
import { createFeedTokens } from '../../../services/ingest/credentials/feed-tokens.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { metricOf } from '../../support/clients/metric-of.ts'
import { newKey } from '../../support/clients/new-key.ts'
import { openTcpProxy, type TcpProxy } from '../../support/clients/tcp-proxy.ts'
import { type Cluster, type Pod, startCluster } from '../../support/cluster/cluster.ts'
import { tableOf } from '../../support/questdb/table-of.ts'
import { appendExport, followed, followedFeed, writeExport } from '../../support/samples/followed-feed.ts'
import { ask, type UserAnswer } from './cluster-user.ts'
import { within } from './within.ts'

const symbol = 'GOLD'
const table = tableOf(
  'fxd_',
  { feed: followedFeed, symbol: compoundKey(followedFeed, symbol), resolution: '1' },
  storageBucketsDefault,
)
const patienceMs = 90_000
const tokenHours = 12

/** A cluster with one process of each role and a collector that follows the export of one symbol. */
export class FollowedCluster {
  readonly cluster: Cluster
  /** Between all processes and the HTTP port of QuestDB, which takes all writes. */
  readonly writes: TcpProxy
  readonly key: string
  readonly symbol = symbol
  readonly #exports: string

  private constructor(cluster: Cluster, writes: TcpProxy, key: string, exports: string) {
    this.cluster = cluster
    this.writes = writes
    this.key = key
    this.#exports = exports
  }

  /** Starts with these minutes in the export; resolves once they are stored. Everything ends with the test. */
  static async start(minutes: readonly number[]): Promise<FollowedCluster> {
    const home = mkdtempSync(join(tmpdir(), 'fxd-followed-'))
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    const file = (name: string, text: string): string => {
      writeFileSync(join(home, name), text)
      return join(home, name)
    }
    const exports = join(home, 'exports')
    mkdirSync(exports)
    writeExport(exports, symbol, minutes)
    const secret = randomBytes(32).toString('hex')
    const until = utcMs(systemClock.utcMs() + tokenHours * 3_600_000)
    const ofFeed = await createFeedTokens(() => [secret], systemClock).issue([followedFeed], until)
    const tokens = { all: file('token', secret), feed: file('feed-token', ofFeed) }
    let writes: TcpProxy | undefined
    const cluster = await startCluster({
      rest: 1,
      stream: 1,
      ingest: 1,
      feeds: file('feeds.yaml', followed(exports, [symbol])),
      home: join(home, 'cluster'),
      env: { FXD_TOKEN_FILE: tokens.all },
      podEnv: (name) => (name.startsWith('collector-') ? { FXD_TOKEN_FILE: tokens.feed } : {}),
      around: {
        questdb: async ({ http, pg }) => {
          writes = await openTcpProxy(http)
          return { http: writes, pg }
        },
      },
    })
    onTestFinished(async () => {
      await cluster.stop()
      await writes?.close()
    })
    const env = { ...cluster.commandEnv, FXD_TOKEN_FILE: tokens.all }
    const key = await newKey(env, `--plan basic --feeds ${followedFeed}`)
    const started = new FollowedCluster(cluster, writes as TcpProxy, key, exports)
    await started.quiet(minutes)
    return started
  }

  /** Appends a minute to the export. */
  append = (minute: number): void => appendExport(this.#exports, symbol, minute)

  /** Replaces the export by one with these minutes. */
  rewrite = (minutes: readonly number[]): void => writeExport(this.#exports, symbol, minutes)

  /** Removes what the collector has on disk. */
  dropSpool = (): void => rmSync(join(this.cluster.home, this.#collector.name), { recursive: true })

  /** Kills ingest and the collector: sends both signals at once and resolves when both have ended. */
  async kill(): Promise<void> {
    await Promise.all(this.#writers.map(({ program }) => program.kill()))
  }

  async restart(): Promise<void> {
    await Promise.all(this.#writers.map(({ program }) => program.start()))
  }

  /** Open times of the bars that QuestDB has, without what any process has in memory. */
  async stored(): Promise<readonly number[]> {
    const rows = await this.cluster.questdb.exec(
      `SELECT cast(ts AS LONG) / 1_000_000 FROM '${table}' WHERE sym = '${symbol}' GROUP BY ts ORDER BY ts`,
    )
    return rows.map(([time]) => Number(time))
  }

  /** Resolves once these minutes are stored and the active collector waits for no Ack; else rejects with what is missing. */
  async quiet(minutes: readonly number[]): Promise<void> {
    let missing = ''
    const isQuiet = async (): Promise<boolean> => {
      const stored = await this.stored().catch((): readonly number[] => [])
      const unacked = await this.#metric('spool_bars')
      const unstored = minutes.filter((minute) => !stored.includes(minute))
      missing = `not stored: ${unstored.join(', ') || 'none'}; bars without an Ack: ${unacked}`
      return unstored.length === 0 && unacked === 0 && (await this.#metric('active')) === 1
    }
    await within(patienceMs, 'all minutes to be stored', isQuiet).catch((cause: unknown) => {
      throw new Error(missing, { cause })
    })
  }

  /** Restarts REST, since bars in memory might hide what the store lost, and requests all bars of a range. */
  async history(from: number, to: number): Promise<UserAnswer> {
    const { httpPort } = this.cluster
    const { program } = this.cluster.pod('rest-1')
    await program.kill()
    await program.start()
    const path = `/v1/history?symbol=${followedFeed}:${symbol}&resolution=1&from=${from}&to=${to}`
    let answer: UserAnswer | undefined
    await within(patienceMs, 'history', async () => {
      answer = await ask(httpPort, path, this.key)
      return answer.status === 200
    })
    return answer as UserAnswer
  }

  /** A metric of the collector; NaN without an answer. */
  #metric = (name: string): Promise<number> =>
    metricOf(this.#collector.opsPort, `fxd_collector_${name}`).catch(() => Number.NaN)

  get #collector(): Pod {
    return this.cluster.pod('collector-brokerb-files')
  }

  get #writers(): readonly Pod[] {
    return [this.cluster.pod('ingest-1'), this.#collector]
  }
}
