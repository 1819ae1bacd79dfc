import { within } from '../../platform/within.ts'
import type { BarStore } from '../../ports/bars.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FeedBoard } from '../../ports/feed-board.ts'
import type { Health } from '../../wire/gen/fxd/v1/Health.ts'

/** Deadline of each check: shorter than that of the caller, who gets an answer about a silent server too. */
const checkMs = 3_000

export interface HealthDeps {
  readonly bars: Pick<BarStore, 'ping'>
  /** It is on the server of the bus. */
  readonly board: Pick<FeedBoard, 'ping'>
  readonly clock: Clock
}

export async function health({ bars, board, clock }: HealthDeps): Promise<Health> {
  const faultOf = (what: string, check: Promise<void>): Promise<string> =>
    within(clock, checkMs, 'a check', check).then(
      () => '',
      (failure: Error) => `The ${what} is unavailable: ${reasonOf(failure)}.`,
    )
  const [storeFault, busFault] = await Promise.all([
    faultOf('store', bars.ping()),
    faultOf('bus', board.ping()),
  ])
  return { storeFault, busFault }
}

/** The innermost message: adapters wrap the error of the server or of its connection. */
const reasonOf = (failure: Error): string =>
  failure.cause instanceof Error ? reasonOf(failure.cause) : failure.message
