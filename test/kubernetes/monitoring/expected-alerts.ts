import { setTimeout as pause } from 'node:timers/promises'
import { within } from '../../faults/support/within.ts'
import type { Prometheus } from './prometheus.ts'

const pollMs = 1_000
const firingMs = 420_000
/** FxdOperatorFailing counts the failures of the last ten minutes, so it ends ten minutes later. */
const endedMs = 720_000

/** Alerts that `alerts.test.ts` reaches; `prometheus.test.ts` reaches the others. */
export const reachedSeparately = [
  'FxdBarsNotPushed',
  'FxdConnectionsDropped',
  'FxdEventLoopBlocked',
  'FxdGaps',
  'FxdRowsParked',
  'FxdShardFull',
  'FxdSpoolFailing',
  'FxdStoreSlow',
] as const

/** Alerts that no test reaches in a cluster. test/charts tests each with promtool. */
export const notReached: Readonly<Record<string, string>> = {
  FxdRestSlow: 'needs ten minutes of slow answers',
  FxdPushSlow: 'needs half an hour of slow bursts',
  FxdFault: 'needs a defect',
  FxdLogDropped: 'needs a blocked standard error',
  FxdBackupMissing: 'needs kube-state-metrics and six hours',
  FxdFeedOffline: 'needs a terminal that lost its broker; the simulator has none',
  FxdFeedStale: 'needs half an hour without a tick',
  FxdBarsLost: 'needs a full spool',
  FxdDrainForced: 'counted when a drain ends; the shard ends before the next scrape',
}

/** Waits for alerts of a Prometheus and records which fired. */
export class ExpectedAlerts {
  readonly #prometheus: Prometheus
  /** Alerts that fired when a test expected them. */
  readonly fired = new Set<string>()

  constructor(prometheus: Prometheus) {
    this.#prometheus = prometheus
  }

  /** Resolves once all of these alerts fire. */
  expectFiring(...alerts: readonly string[]): Promise<void> {
    return this.expectFiringWithin(firingMs, ...alerts)
  }

  async expectFiringWithin(timeoutMs: number, ...alerts: readonly string[]): Promise<void> {
    const begunMs = performance.now()
    await within(timeoutMs, `the alerts ${alerts.join(', ')} to fire`, async () => {
      const firing = await this.#firing()
      return alerts.every((alert) => firing.includes(alert))
    })
    for (const alert of alerts) this.fired.add(alert)
    const seconds = Math.round((performance.now() - begunMs) / 1_000)
    console.log(`${alerts.join(', ')} after ${seconds} s; firing: ${(await this.#firing()).join(', ')}`)
  }

  /** Resolves once none of these alerts fires. */
  async expectEnded(...alerts: readonly string[]): Promise<void> {
    await within(endedMs, `the alerts ${alerts.join(', ')} to end`, async () => {
      const firing = await this.#firing()
      return !alerts.some((alert) => firing.includes(alert))
    })
  }

  async #firing(): Promise<readonly string[]> {
    await pause(pollMs)
    return this.#prometheus.firing()
  }
}
