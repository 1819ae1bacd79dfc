import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { effort } from '../../support/effort.ts'
import { ClusterFixture } from '../support/cluster-fixture.ts'
import { flows } from '../support/quiet.ts'
import { seeded } from '../support/seeded.ts'
import { within } from '../support/within.ts'

/** Kills over all rounds; 100 in `make soak`. */
const killCount = Math.max(6, Math.round(5 * effort))
const killsPerRound = 20
/** Minimum bars per kill; a million in `make soak`. */
const barsPerKill = 10_000
/** Percent of kills that kill a second process at the same time. */
const bothPercent = 15
/** Deadline for the minutes of the real collector in history. */
const minutesMsMax = 60_000

interface Victim {
  readonly role: string
  kill(): Promise<void>
  start(): Promise<void>
}

const roundCount = Math.ceil(killCount / killsPerRound)

test('processes of each role and Redis are killed repeatedly while bars flow: the promises hold', {
  timeout: 240_000 + roundCount * 240_000 + killCount * 90_000,
}, async () => {
  const { random, seed } = seeded()
  console.log(`FXD_TEST_SEED=${seed}: ${killCount} kills`)
  let left = killCount
  while (left > 0) {
    const kills = Math.min(left, killsPerRound)
    left -= kills
    expect(await round(kills, random), `FXD_TEST_SEED=${seed}`).toEqual([])
  }
})

/** Kills processes of a new cluster; returns what is wrong at the end. */
async function round(kills: number, random: () => number): Promise<readonly string[]> {
  const fixture = await ClusterFixture.start({ random, minuteMs: 250 })
  onTestFinished(async () => void (await fixture.end()))
  const { market } = fixture
  const history = fixture.feeder({ mode: 'IMPORT', next: () => market.history(), onAck: () => pause(200) })
  history.start()
  const watched = [fixture.live, history]
  const killed: Record<string, number> = {}
  let queue: Victim[] = []
  let slowest = { ms: 0, after: '' }
  const next = (): Victim => {
    if (queue.length === 0) queue = shuffled(victims(fixture), random)
    return queue.pop() as Victim
  }
  for (let done = 0; done < kills; ) {
    await flows(watched, 4)
    await pause(market.any(1_000))
    // Two from one shuffle: no process is killed twice at once.
    const both = queue.length !== 1 && market.any(100) < bothPercent && done + 1 < kills
    const chosen = both ? [next(), next()] : [next()]
    await Promise.all(chosen.map((each) => each.kill()))
    await pause(market.any(500))
    await Promise.all(chosen.map((each) => each.start()))
    for (const { role } of chosen) killed[role] = (killed[role] ?? 0) + 1
    done += chosen.length
    const begun = performance.now()
    await flows(watched, 1)
    const ms = Math.round(performance.now() - begun)
    if (ms > slowest.ms) slowest = { ms, after: chosen.map(({ role }) => role).join(' and ') }
  }
  // Bars must flow between kills: wait for the minimum.
  do await flows(watched, 4)
  while (fixture.ackedBars < kills * barsPerKill)
  const complaints = await fixture.judge()
  const simulated = await minutesMissing(fixture)
  console.log(
    `killed ${JSON.stringify(killed)}; ${fixture.summary()}; the slowest return took ${slowest.ms} ms, of ${slowest.after}`,
  )
  return [...complaints, ...simulated, ...(await fixture.end())]
}

/** A random process of each role, and Redis. */
function victims({ cluster, outages, random }: ClusterFixture): Victim[] {
  const pods = (['rest', 'stream', 'ingest', 'collector'] as const).map((role): Victim => {
    const { program } = shuffled(
      cluster.pods.filter((pod) => pod.role === role),
      random,
    )[0] as (typeof cluster.pods)[number]
    return { role, kill: () => program.kill(), start: () => program.start() }
  })
  let fromMs = 0
  const redis: Victim = {
    role: 'redis',
    async kill() {
      fromMs = Date.now()
      await cluster.redis.kill()
    },
    async start() {
      await cluster.redis.start()
      outages.push({ fromMs, untilMs: Date.now() })
    },
  }
  return [...pods, redis]
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

/** Checks the minutes of the real collector, whose terminal has a bar every minute; returns what is missing. */
async function minutesMissing({ users: { get } }: ClusterFixture): Promise<string[]> {
  const missing = async (): Promise<string[]> => {
    const to = Math.floor(Date.now() / 1_000)
    const { status, body } = await get(
      `/v1/history?symbol=BROKERB:LIVE:BTCUSD&resolution=1&from=${to - 86_400}&to=${to}`,
    )
    if (status !== 200) return [`history answered ${status}: ${JSON.stringify(body)}`]
    const { t = [] } = body as { t?: readonly number[] }
    if (t.length < 1_000) return [`the collector delivered ${t.length} minutes`]
    if (to - (t.at(-1) as number) > 240) return ['the collector delivers no new minutes']
    return t.flatMap((time, i) => {
      const last = t[i - 1]
      return last !== undefined && time !== last + 60 ? [`the collector missed minutes before ${time}`] : []
    })
  }
  let found: string[] = []
  const isWhole = async (): Promise<boolean> => (found = await missing()).length === 0
  await within(minutesMsMax, 'the minutes of the collector', isWhole).catch(() => undefined)
  return found
}
