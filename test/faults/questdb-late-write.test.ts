import { expect, onTestFinished, test } from 'vitest'
import { effort } from '../support/effort.ts'
import { oneServer } from '../support/questdb/one-server.ts'
import { openTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { Feeder } from './feeder.ts'
import { FxdProcess } from './fxd-process.ts'
import { Market, manifest } from './market.ts'
import { expectNothingLost, flows } from './quiet.ts'
import { seeded } from './seeded.ts'

const server = oneServer()
const rounds = Math.max(2, Math.round(effort))
/** The request with which rows are written. */
const writing = 'POST /write'

/** What a frozen ingest had sent lands before it goes on, or long after it gave up waiting for the answer. */
const landings = ['while it is frozen', 'after it gave up'] as const

/** Resolves once the one that is given up writes to the server again: its request timed out, it tries anew. */
async function givesUp(fxd: FxdProcess, failuresBefore: number): Promise<void> {
  await expect
    .poll(() => fxd.metric('fxd_questdb_write_failures_total').catch(() => 0), {
      timeout: 150_000,
      interval: 100,
    })
    .toBeGreaterThan(failuresBefore)
}

interface Rig {
  readonly first: FxdProcess
  readonly second: FxdProcess
  readonly proxy: TcpProxy
  readonly market: Market
  readonly live: Feeder
}

async function takeover(rig: Rig, landing: (typeof landings)[number]): Promise<void> {
  const { first, second, proxy, live } = rig
  const failures = await first.metric('fxd_questdb_write_failures_total')
  proxy.set({ up: { kind: 'hold', from: writing } })
  await proxy.held()
  first.freeze()
  // With what had no answer, in the same revisions, then corrections of the same minutes.
  live.move(second)
  await flows([live], 30)
  if (landing === 'while it is frozen') {
    expect(await proxy.release()).toBeGreaterThan(0)
    first.thaw()
  } else {
    first.thaw()
    await givesUp(first, failures)
    expect(await proxy.release()).toBeGreaterThan(0)
  }
  await flows([live], 5)
  // Back to the one that has slept through everything since.
  live.move(first)
  await flows([live], 30)
}

test('a request of an ingest that was frozen lands late, after another ingest took over: no correction is undone', {
  timeout: 120_000 + rounds * 120_000,
}, async () => {
  const { random, seed } = seeded()
  const hint = `FXD_TEST_SEED=${seed}`
  const market = new Market(random)
  const proxy = await openTcpProxy(server().http)
  onTestFinished(() => proxy.close())
  const shared = { ...server(), prefix: 'late_', manifests: [manifest] }
  const first = await FxdProcess.start({ ...shared, http: proxy })
  const second = await FxdProcess.start(shared)
  await first.takeKey()
  await second.takeKey(first)
  let corrections = 0
  const live = new Feeder({
    ingest: first,
    mode: 'LIVE',
    // Two of three batches read the newest minutes again, those that are under way too.
    next: () => (corrections++ % 3 === 0 ? market.live() : market.corrections(6)),
  }).start()
  await flows([live], 10)
  for (let round = 0; round < rounds; round++) {
    const landing = landings[round % landings.length] ?? landings[0]
    await takeover({ first, second, proxy, market, live }, landing)
  }
  await expectNothingLost([live], market, [first, second], hint)
  console.log(
    `${hint}: ${rounds} takeovers, ${live.readings.length} readings, ${live.broken} sessions broken`,
  )
})
