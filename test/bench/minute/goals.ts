import { ms, printTable, quantile } from '../support/figures.ts'
import type { Burst, Cpu } from './burst.ts'
import type { Alone } from './commits-alone.ts'
import { cpuOfBurst, perBar } from './tables.ts'

/** What a subject is to reach once a minute, in 4 messages of collectors that can resend. */
export interface Reached {
  readonly subject: string
  readonly bursts: readonly Burst[]
  readonly ingest: string
  /** CPU without a burst, in the time for which a burst is measured. */
  readonly idle: Cpu
  readonly framesGoalMs: number
  /** From the last commit to 99 of 100 frames, and the form of Push collectors that was measured. */
  readonly afterCommit: { readonly ms: number; readonly form: string }
  /** `undefined` without QuestDB. */
  readonly alone: Alone | undefined
}

const ackDelayMs = 50
const ackFactor = 1.5

/** `make bench` reads these lines. */
export function printGoals({
  subject,
  bursts,
  ingest,
  idle,
  framesGoalMs,
  afterCommit,
  alone,
}: Reached): void {
  const frames = quantile(
    bursts.map((each) => each.frames.p99),
    0.5,
  )
  const visible = Math.max(...bursts.map((each) => each.visible))
  const acks = quantile(
    bursts.flatMap((each) => each.acks),
    0.99,
  )
  const ingestMs = cpuOfBurst(bursts, ingest) - (idle[ingest] ?? 0)
  const rows = [[`${subject}: frames p99`, ms(frames), `≤ ${framesGoalMs} ms`]]
  if (alone !== undefined) {
    const acksMost = ackDelayMs + ackFactor * alone.p99
    rows.push(
      [`${subject}: frames p99 after the commit, ${afterCommit.form}`, ms(afterCommit.ms), '≤ 40 ms'],
      [`${subject}: CPU of ${ingest} per bar, without idle use`, perBar(ingestMs), '≤ 20 µs'],
      [`${subject}: acks p99`, ms(acks), `≤ ${ms(acksMost)}: ${ackDelayMs} ms + ${ackFactor} × commit alone`],
      [`${subject}: visible on all pods, max`, ms(visible), '≤ 500 ms'],
    )
  }
  console.log()
  printTable(['once a minute, 4 messages, resending', 'measured', 'goal'], rows)
}
