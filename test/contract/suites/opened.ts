import { afterAll, beforeAll } from 'vitest'
import type { UtcMs } from '../../../services/core/clocks/feed-clock.ts'
import type { Stores } from '../../../services/ports/stores.ts'

/**
 * Stores under test, newly opened and empty. A suite gets the ports that it needs and does not know the
 * adapters behind them.
 */
export interface Opened<P extends keyof Stores> {
  readonly stores: Pick<Stores, P>
  /** The clock of the stores. */
  readonly clock: { utcMs(): UtcMs; advance(ms: number): Promise<void> }
  /** Restarts the stores: after a close, or as after a kill at this moment. */
  reopen(how: 'closed' | 'killed'): Promise<Opened<P>>
  close(): Promise<void>
}

export type Open<P extends keyof Stores> = (start?: number) => Promise<Opened<P>>

/** Opens the stores once for a whole suite. Its tests use separate names, so they do not share data. */
export function openedOnce<P extends keyof Stores>(open: Open<P>): () => Opened<P> {
  let opened: Opened<P> | undefined
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(() => opened?.close())
  return () => {
    if (!opened) throw new Error('The stores are open inside tests only.')
    return opened
  }
}

let names = 0
/** A name that no other test of this process uses. */
export const freshName = (word: string): string => `${word}${++names}`
