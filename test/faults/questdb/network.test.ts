import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openTcpProxy, type TcpProxy, type Toxics } from '../../support/clients/tcp-proxy.ts'
import { effort } from '../../support/effort.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { Feeder } from '../support/feeder.ts'
import { FxdProcess } from '../support/fxd-process.ts'
import { Market, manifest } from '../support/market.ts'
import { Poller } from '../support/poller.ts'
import { expectNothingLost, flows } from '../support/quiet.ts'
import { seeded } from '../support/seeded.ts'

const server = oneServer()
const rounds = Math.max(1, Math.round(effort / 10))
/** Minimum duration of a fault. */
const faultMsMin = 1_500
/** Maximum time to recover; half-open connections time out after 10 s. */
const recoveryMsMax = 40_000

interface Fault {
  readonly name: string
  readonly toxics: Toxics
  /** Whether the fault affects the HTTP connections (writes). */
  readonly http: boolean
  /** Whether the fault affects the Postgres connections (reads). */
  readonly pg: boolean
  /** Whether open connections are reset when the fault begins. */
  readonly resets?: boolean
  /** Whether acks must continue during the fault. */
  readonly flows?: boolean
}

const delayed = (ms: number): Toxics => ({ up: { kind: 'delay', ms }, down: { kind: 'delay', ms } })
const swallowed: Toxics = { up: { kind: 'swallow' }, down: { kind: 'swallow' } }
const faults: readonly Fault[] = [
  { name: 'slow', toxics: delayed(80), http: true, pg: true, flows: true },
  { name: 'slower than any deadline', toxics: delayed(2_500), http: true, pg: true },
  {
    name: 'in small slices',
    toxics: { up: { kind: 'slice', bytes: 61 } },
    http: true,
    pg: true,
    flows: true,
  },
  {
    name: 'cut in the middle of requests',
    toxics: { up: { kind: 'cut', afterBytes: 700 } },
    http: true,
    pg: true,
  },
  {
    name: 'cut in the middle of answers',
    toxics: { down: { kind: 'cut', afterBytes: 90 } },
    http: true,
    pg: true,
  },
  { name: 'refusing', toxics: { connections: 'refuse' }, http: true, pg: true, resets: true },
  {
    name: 'accepting connections and never answering',
    toxics: { connections: 'mute' },
    http: true,
    pg: true,
    resets: true,
  },
  { name: 'half-open', toxics: swallowed, http: true, pg: true },
  { name: 'storing without an answer', toxics: { down: { kind: 'swallow' } }, http: true, pg: false },
  { name: 'storing, with reads unanswered', toxics: { down: { kind: 'swallow' } }, http: false, pg: true },
]

interface Rig {
  readonly fxd: FxdProcess
  readonly http: TcpProxy
  readonly pg: TcpProxy
  readonly market: Market
  readonly feeders: readonly Feeder[]
}

async function harm({ fxd, http, pg, market, feeders }: Rig, fault: Fault): Promise<string> {
  const poller = new Poller(fxd)
  const harmed = [...(fault.http ? [http] : []), ...(fault.pg ? [pg] : [])]
  for (const proxy of harmed) proxy.set(fault.toxics)
  if (fault.resets) for (const proxy of harmed) proxy.reset()
  if (fault.flows) await flows(feeders, 2)
  await pause(faultMsMin + market.any(effort > 1 ? 20_000 : 1_500))
  for (const proxy of harmed) proxy.set({})
  const begun = performance.now()
  await flows(feeders, 2)
  const recoveredMs = performance.now() - begun
  await expect.poll(() => fxd.platformStatus(), { timeout: recoveryMsMax, interval: 100 }).toBe('ok')
  expect(await poller.stop()).toEqual([])
  expect(recoveredMs, fault.name).toBeLessThan(recoveryMsMax)
  const failed = poller.answers.filter(({ status }) => status === 500).length
  const slowest = Math.max(...poller.answers.map(({ tookMs }) => tookMs))
  return (
    `${fault.name}: acks again after ${Math.round(recoveredMs)} ms; ${poller.answers.length} answers, ` +
    `${failed} of them 500, the slowest after ${Math.round(slowest)} ms; ${[...poller.statuses].join(', ')}`
  )
}

test('QuestDB slow, cut off, refusing, half-open or silent behind a bad network: nothing hangs, every acknowledged bar is stored, and fxd recovers', {
  timeout: 120_000 + rounds * faults.length * 120_000,
}, async () => {
  const { random, seed } = seeded()
  const hint = `FXD_TEST_SEED=${seed}`
  const market = new Market(random)
  const [http, pg] = [await openTcpProxy(server().http), await openTcpProxy(server().pg)]
  onTestFinished(async () => {
    await Promise.all([http.close(), pg.close()])
  })
  const fxd = await FxdProcess.start({ http, pg, prefix: 'net_', manifests: [manifest] })
  await fxd.takeKey()
  const live = new Feeder({ ingest: fxd, mode: 'LIVE', next: () => market.live() }).start()
  const history = new Feeder({ ingest: fxd, mode: 'IMPORT', next: () => market.history() }).start()
  const feeders = [live, history]
  await flows(feeders, 5)
  const results: string[] = []
  for (let round = 0; round < rounds; round++)
    for (const fault of faults) results.push(await harm({ fxd, http, pg, market, feeders }, fault))
  console.log([hint, ...results].join('\n'))
  await expectNothingLost(feeders, market, [fxd], hint)
})
