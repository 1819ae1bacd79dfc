/**
 * The whole market of one minute, from four collectors to many sockets: 1,622 + 3 × 230 symbols, once a minute at the
 * real second and back to back, through the processes of a cluster and through `fxd all`. A program in C reads
 * the sockets. Times count from the moment at which the collectors begin to send. The open times of the bars lie in
 * the last hours, each later than the one before.
 * Run: bin/node test/bench/minute.ts [profile] [bursts of each form = 5]
 */

import { systemClock } from '../../services/platform/system-clock.ts'
import { type Burst, Bursts, burstEndMs, cpuSince, perSocket } from './minute/burst.ts'
import { commitsAlone, minutesAlone, printAlone } from './minute/commits-alone.ts'
import { type Form, forms, nameOf, real, realPush, unmeasured } from './minute/forms.ts'
import { printGoals } from './minute/goals.ts'
import {
  closedMinutes,
  makeMarketHome,
  makeTables,
  marketFeeds,
  marketSymbols,
  openSessions,
} from './minute/market.ts'
import { randomSubscriptions, SocketReader } from './minute/socket-reader.ts'
import { afterCommit, stageRows } from './minute/stage-table.ts'
import { type Subject, startAll, startProcesses } from './minute/subjects.ts'
import { type Measured, printCpu, printTimes } from './minute/tables.ts'
import { issueBenchKey } from './support/bench-feed.ts'
import { machine, printTable } from './support/figures.ts'
import { firstSocket } from './support/first-socket.ts'

const given = process.argv.slice(2)
const isProfile = given.includes('profile')
const burstsEach = Number(given.find((each) => /^\d+$/.test(each)) ?? 5)
const minutesMax = forms.reduce((sum, form) => sum + unmeasured(form) + burstsEach, 2 + minutesAlone)

/** Sends bursts of one form. */
async function burstsOf(form: Form, count: number, subject: Subject, bursts: Bursts): Promise<Burst[]> {
  const sessions = await openSessions(subject.grpc, subject.token, form.isRereadable)
  const sent: Burst[] = []
  for (let n = 1; n <= count; n++)
    sent.push(await bursts.send(sessions, form, isProfile && form === real && n === count))
  for (const session of sessions) await session.close()
  return sent
}

async function measureForms(subject: Subject, bursts: Bursts, nextMinute: () => number): Promise<void> {
  const all: Measured[] = []
  const counted = new Map<Form, readonly Burst[]>()
  all.push({ name: 'first minute after the start', bursts: await burstsOf(real, 1, subject, bursts) })
  for (const form of forms) {
    const sent = (await burstsOf(form, unmeasured(form) + burstsEach, subject, bursts)).slice(
      unmeasured(form),
    )
    counted.set(form, sent)
    all.push({ name: nameOf(form), bursts: sent })
  }
  const before = bursts.cpu()
  await systemClock.sleep(burstEndMs)
  const idle = cpuSince(before, bursts.cpu())
  const marks = await subject.stages.read()
  console.log(`\n${subject.name}: ${marketSymbols.length} symbols, ${subject.sockets} sockets × ${perSocket}`)
  printTimes(all)
  printCpu(all, subject.ingest, idle)
  for (const [form, sent] of counted) {
    console.log(`\n${subject.name}, stages of bursts ${nameOf(form)}: median, from the start of sending`)
    printTable(['stage', 'first', 'last', 'times'], stageRows(sent, marks))
  }
  const alone = subject.questdb && (await commitsAlone(subject.questdb, nextMinute))
  if (alone) printAlone(alone)
  printGoals({
    subject: subject.name,
    bursts: counted.get(real) ?? [],
    ingest: subject.ingest,
    idle,
    framesGoalMs: subject.framesGoalMs,
    afterCommit: { form: nameOf(realPush), ms: afterCommit(counted.get(realPush) ?? [], marks) },
    alone,
  })
}

async function measure(start: (home: string) => Promise<Subject>): Promise<void> {
  const { home, discard } = makeMarketHome()
  let subject: Subject | undefined
  try {
    subject = await start(home)
    const key = await issueBenchKey({ target: subject }, marketFeeds)
    const path = `/v1/stream?api_key=${key}`
    // The sockets subscribe to symbols that a catalogue has named.
    const sessions = await openSessions(subject.grpc, subject.token, true)
    const nextMinute = closedMinutes(minutesMax)
    await makeTables(sessions, nextMinute())
    for (const session of sessions) await session.close()
    await firstSocket(`ws://127.0.0.1:${subject.httpPort}${path}`)
    const subscriptions = randomSubscriptions(marketSymbols, subject.sockets, perSocket)
    const sockets = await SocketReader.open(subject.httpPort, path, subscriptions)
    await measureForms(subject, new Bursts(subject, key, sockets, nextMinute), nextMinute)
    await sockets.close()
  } finally {
    await subject?.stop()
    discard()
  }
}

console.log(`${machine()}; ${burstsEach} bursts of each form`)
await measure((home) => startProcesses(home, isProfile))
await measure((home) => startAll(home, isProfile))
