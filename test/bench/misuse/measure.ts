import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { quantile } from '../support/figures.ts'
import type { AttackCommand, AttackOrder, AttackReport } from './attacker.ts'
import type { VictimOrder, VictimReport, VictimRun } from './victim.ts'
import type { WatchedServer } from './watched-server.ts'

const readyDeadlineMs = 60_000
/** The victim waits 10 s for its last answers. */
const overrunMs = 30_000
const sampleEveryMs = 50
/** Timeout of the attacker's counts, because it may be as busy as the server. */
const tellDeadlineMs = 15_000

/** One run of the victim, with or without an attack. Times in milliseconds. */
export interface Run {
  readonly restP99: number
  readonly pingP99: number
  readonly failures: Readonly<Record<string, number>>
  readonly lagP99: number
  readonly lagMax: number
  /** Maximum CPU time of one turn of the server's event loop. */
  readonly longestTurn: number
  /** Maximum resident memory. */
  readonly rssMb: number
  /** Share of the time in which the server's main thread waited for a CPU. */
  readonly cpuWait: number
}

const childOf = (file: string): ChildProcess => fork(fileURLToPath(new URL(file, import.meta.url)))

/** The next message of a child process. Rejects when it ends first or after the deadline. */
async function messageOf<T>(child: ChildProcess, deadlineMs: number): Promise<T> {
  const done = new AbortController()
  const signal = AbortSignal.any([done.signal, AbortSignal.timeout(deadlineMs)])
  const gone = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`a client ended with ${String(code)}`)
  })
  try {
    const [message] = (await Promise.race([once(child, 'message', { signal }), gone])) as [T]
    return message
  } finally {
    done.abort()
  }
}

/** Resolves when the victim's socket is open. */
export async function startVictim(order: VictimOrder): Promise<ChildProcess> {
  const victim = childOf('./victim.ts')
  victim.send(order)
  await messageOf(victim, readyDeadlineMs)
  return victim
}

/** Resolves when the attack is prepared. */
export async function startAttacker(order: AttackOrder): Promise<ChildProcess> {
  const attacker = childOf('./attacker.ts')
  attacker.send(order)
  await messageOf(attacker, readyDeadlineMs)
  return attacker
}

/** Requests the counts of the attack, then ends it with all its connections. */
export async function endAttacker(attacker: ChildProcess): Promise<Readonly<Record<string, number>>> {
  if (!attacker.connected) return {}
  attacker.send('end' satisfies AttackCommand)
  try {
    const report = await messageOf<AttackReport>(attacker, tellDeadlineMs)
    return 'counts' in report ? report.counts : {}
  } catch {
    return {}
  } finally {
    attacker.kill('SIGKILL')
  }
}

/** Runs the victim for `runMs`, with the attack if given. Rejects with `ServerLost` when the server ends. */
export async function measure(
  server: WatchedServer,
  victim: ChildProcess,
  runMs: number,
  attacker?: ChildProcess,
): Promise<Run> {
  await server.loop()
  const waitedBefore = server.cpuWaitMs()
  let rssMb = 0
  let waited = waitedBefore
  const watch = setInterval(() => {
    if (server.hasEnded) return
    rssMb = Math.max(rssMb, server.rssMb())
    waited = server.cpuWaitMs()
  }, sampleEveryMs)
  const begun = performance.now()
  try {
    const reported = messageOf<VictimReport | 'open'>(victim, runMs + overrunMs)
    victim.send({ runMs } satisfies VictimRun)
    attacker?.send('begin' satisfies AttackCommand)
    let report = await reported
    // A reopened socket also reports `open`.
    while (report === 'open') report = await messageOf<VictimReport | 'open'>(victim, runMs + overrunMs)
    if (server.hasEnded) throw server.end()
    const { lag, longestTurn } = await server.loop()
    return {
      restP99: quantile(report.rest, 0.99),
      pingP99: quantile(report.pings, 0.99),
      failures: report.failures,
      lagP99: quantile(lag, 0.99),
      lagMax: quantile(lag, 1),
      longestTurn,
      rssMb,
      cpuWait: (waited - waitedBefore) / (performance.now() - begun),
    }
  } finally {
    clearInterval(watch)
  }
}
