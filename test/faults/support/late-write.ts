import { onTestFinished } from 'vitest'
import { openTcpProxy, type TcpProxy } from '../../support/clients/tcp-proxy.ts'
import type { QuestdbServer } from '../../support/questdb/server.ts'
import { Feeder } from './feeder.ts'
import { FxdProcess } from './fxd-process.ts'
import type { Outcome } from './kill-again.ts'
import { Market, manifest } from './market.ts'
import { complaintsAtRest, flows } from './quiet.ts'
import { within } from './within.ts'

/** The request with which rows are written. */
const writing = 'POST /write'
const givesUpMsMax = 150_000

/** What a frozen ingest had sent lands before it goes on, or long after it gave up waiting for the answer. */
const landings = ['while it is frozen', 'after it gave up'] as const

export interface LateWriteOptions {
  readonly server: QuestdbServer
  readonly prefix: string
  readonly rounds: number
  readonly random: () => number
  /** Whose sources run. */
  readonly root?: string
}

interface Rig {
  readonly first: FxdProcess
  readonly second: FxdProcess
  readonly proxy: TcpProxy
  readonly live: Feeder
}

/** An ingest is frozen with a write under way, another takes over and is sent corrections; then the old write lands. */
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
    // Two of three batches read the newest minutes again, those that are under way too.
    next: () => (batches++ % 3 === 0 ? market.live() : market.corrections(6)),
  }).start()
  await flows([live], 10)
  for (let round = 0; round < rounds; round++) {
    const landing = landings[round % landings.length] ?? landings[0]
    await takeover({ first, second, proxy, live }, landing)
  }
  const complaints = await complaintsAtRest([live], market, [first, second])
  const told = `${rounds} takeovers, ${live.readings.length} readings, ${live.broken} sessions broken`
  return { complaints, told }
}

async function takeover(rig: Rig, landing: (typeof landings)[number]): Promise<void> {
  const { first, second, proxy, live } = rig
  const failures = await first.metric('fxd_questdb_write_failures_total')
  proxy.set({ up: { kind: 'hold', from: writing } })
  await proxy.held()
  await first.freeze()
  // With what had no answer, in the same revisions, then corrections of the same minutes.
  live.move(second)
  await flows([live], 30)
  if (landing === 'after it gave up') {
    first.thaw()
    await within(
      givesUpMsMax,
      'a request without an answer to be given up',
      async () => (await first.metric('fxd_questdb_write_failures_total')) > failures,
    )
  }
  if ((await proxy.release()) === 0) throw new Error('nothing landed late')
  first.thaw()
  await flows([live], 5)
  // Back to the one that has slept through everything since.
  live.move(first)
  await flows([live], 30)
}
