import { afterAll, beforeAll } from 'vitest'
import type { UtcMs } from '../../../services/core/clocks/feed-clock.ts'
import type { Stores } from '../../../services/ports/stores.ts'

/**
 * Stores under test, just opened and empty. A suite asks for the ports that it needs and knows nothing
 * of what stands behind them.
 */
export interface Opened<P extends keyof Stores> {
  readonly stores: Pick<Stores, P>
  /** Time as the stores see it. */
  readonly clock: { utcMs(): UtcMs; advance(ms: number): Promise<void> }
  /** The same stores after a restart: closed before, or ended as by a kill at this moment. */
  reopen(how: 'closed' | 'killed'): Promise<Opened<P>>
  close(): Promise<void>
}

export type Open<P extends keyof Stores> = (start?: number) => Promise<Opened<P>>

/** One opening for a whole suite, whose tests keep apart by using names of their own. */
export function openedOnce<P extends keyof Stores>(open: Open<P>): () => Opened<P> {
  let opened: Opened<P> | undefined
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(() => opened?.close())
  return () => {
    if (!opened) throw new Error('The stores are open inside of tests only.')
    return opened
  }
}

let names = 0
/** A name that no other test of this process uses. */
export const freshName = (word: string): string => `${word}${++names}`
