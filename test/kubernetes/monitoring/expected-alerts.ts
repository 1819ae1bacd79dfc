import { setTimeout as pause } from 'node:timers/promises'
import type { Prometheus } from './prometheus.ts'

const pollMs = 1_000
const firingMs = 420_000
/** FxdOperatorFailing counts the failures of the last ten minutes, so it ends ten minutes later. */
const endedMs = 720_000

/** Alerts that fire in `alerts.test.ts`. All others, but for `notReached`, fire in `prometheus.test.ts`. */
export const reachedSeparately = [
  'FxdBarsLost',
  'FxdBarsNotPushed',
  'FxdConnectionsDropped',
  'FxdDrainForced',
  'FxdEventLoopBlocked',
  'FxdFault',
  'FxdFeedOffline',
  'FxdGaps',
  'FxdLogDropped',
  'FxdPushSlow',
  'FxdRestSlow',
  'FxdShardFull',
  'FxdSpoolFailing',
  'FxdStoreSlow',
  'FxdTableOutOfOrder',
] as const

/** Alerts that fire in no test of a cluster, with the reason. test/charts tests each with promtool. */
export const notReached: Readonly<Record<string, string>> = {
  FxdBackupMissing: 'needs kube-state-metrics and six hours',
  FxdRedisMemory: 'needs a Redis that is nearly full',
  FxdRefusedByShare: 'needs a key that uses up its share in an outage of Redis',
  FxdMemoryMapsShort: 'needs thousands of partitions of QuestDB',
  FxdVolumeFilling: 'needs metrics of kubelets and a nearly full volume',
  FxdWindowsRefused: 'needs 50,000 separate windows',
  FxdFeedStale: 'needs half an hour without a tick or bar, on a weekday',
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
    await this.#until(timeoutMs, 'fire', (firing) => alerts.filter((alert) => !firing.includes(alert)))
    for (const alert of alerts) this.fired.add(alert)
    const seconds = Math.round((performance.now() - begunMs) / 1_000)
    console.log(`${alerts.join(', ')} after ${seconds} s`)
  }

  /** Resolves once none of these alerts fires. */
  expectEnded(...alerts: readonly string[]): Promise<void> {
    return this.#until(endedMs, 'end', (firing) => alerts.filter((alert) => firing.includes(alert)))
  }

  /** Resolves once `missing` returns no alert; rejects with the last alerts that it returned. */
  async #until(
    timeoutMs: number,
    change: 'fire' | 'end',
    missing: (firing: readonly string[]) => readonly string[],
  ): Promise<void> {
    const begunMs = performance.now()
    for (;;) {
      const left = missing(await this.#prometheus.firing())
      if (left.length === 0) return
      if (performance.now() - begunMs > timeoutMs)
        throw new Error(`waited ${timeoutMs} ms for alerts to ${change}: ${left.join(', ')}`)
      await pause(pollMs)
    }
  }
}
