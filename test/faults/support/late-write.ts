import { onTestFinished } from 'vitest'
import { openTcpProxy, type TcpProxy } from '../../support/clients/tcp-proxy.ts'
import type { QuestdbServer } from '../../support/questdb/server.ts'
import { Feeder } from './feeder.ts'
import { FxdProcess } from './fxd-process.ts'
import type { Outcome } from './kill-again.ts'
import { Market, manifest } from './market.ts'
import { complaintsAtRest, flows } from './quiet.ts'
import { within } from './within.ts'

/** First bytes of each request that writes rows. */
const writing = 'POST /write'
const timeoutMsMax = 150_000

/** When the held write of a frozen ingest reaches QuestDB. */
const landings = ['while it is frozen', 'after its timeout'] as const

export interface LateWriteOptions {
  readonly server: QuestdbServer
  readonly prefix: string
  readonly rounds: number
  readonly random: () => number
  /** Root of the source tree to run. */
  readonly root?: string
}

interface Rig {
  readonly first: FxdProcess
  readonly second: FxdProcess
  readonly proxy: TcpProxy
  readonly live: Feeder
}

/** Freezes an ingest with a write in progress; another takes over and gets corrections; then the old write arrives. */
export async function writeLate(options: LateWriteOptions): Promise<Outcome> {
  const { server, prefix, rounds, random, root } = options
  const market = new Market(random)
  const proxy = await openTcpProxy(server.http)
  onTestFinished(() => proxy.close())
  const { http, pg } = server
  const shared = { http, pg, prefix, manifests: [manifest], ...(root !== undefined && { root }) }
  const first = await FxdProcess.start({ ...shared, http: proxy })
  const second = await FxdProcess.start(shared)
  await first.takeKey()
  await second.takeKey(first)
  let batches = 0
  const live = new Feeder({
    ingest: first,
    mode: 'LIVE',
    claims: true,
    // Two of three batches correct the newest minutes, including those of the held write.
    next: () => (batches++ % 3 === 0 ? market.live() : market.corrections(6)),
  }).start()
  await flows([live], 10)
  for (let round = 0; round < rounds; round++) {
    const landing = landings[round % landings.length] ?? landings[0]
    await takeover({ first, second, proxy, live }, landing)
  }
  const complaints = await complaintsAtRest([live], market, [first, second])
  const summary = `${rounds} takeovers, ${live.readings.length} readings, ${live.broken} sessions broken`
  return { complaints, summary }
}

async function takeover(rig: Rig, landing: (typeof landings)[number]): Promise<void> {
  const { first, second, proxy, live } = rig
  const failures = await first.metric('fxd_questdb_write_failures_total')
  proxy.set({ up: { kind: 'hold', from: writing } })
  await proxy.held()
  await first.freeze()
  // It sends the unanswered batches with the same revisions, then corrections of the same minutes.
  live.move(second)
  await flows([live], 30)
  if (landing === 'after its timeout') {
    first.thaw()
    await within(
      timeoutMsMax,
      'the timeout of the held request',
      async () => (await first.metric('fxd_questdb_write_failures_total')) > failures,
    )
  }
  if ((await proxy.release()) === 0) throw new Error('no held write arrived late')
  first.thaw()
  await flows([live], 5)
  // Back to the first ingest, which has not seen the corrections.
  live.move(first)
  await flows([live], 30)
}
