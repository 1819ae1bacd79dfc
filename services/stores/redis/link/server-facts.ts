import { WrongServer } from '../../../core/failure.ts'
import type { Log } from '../../../platform/log/log.ts'
import type { Metrics } from '../../../platform/metrics.ts'

/** The oldest Redis on which all suites ran. */
const majorMin = 7
const wantedPolicy = 'noeviction'
const policyCure = 'set "maxmemory-policy noeviction"'

export interface ServerFacts {
  readonly version: string
  readonly policy: string
  readonly role: string
  /** Identifies the server's process: it changes with each restart and each failover. */
  readonly run: string
}

/** A field in the answer to INFO; '' if it is absent. */
export const infoField = (info: string, name: string): string =>
  new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? ''

export function factsOf(info: string): ServerFacts {
  const field = (name: string): string => infoField(info, name)
  return {
    version: field('redis_version'),
    policy: field('maxmemory_policy'),
    role: field('role'),
    run: field('run_id'),
  }
}

/**
 * Checks each server after connecting. A server that is too old is always rejected. A server that evicts keys when its
 * memory is full is rejected at the start; after a failover the log and a gauge report it.
 */
export function serverJudge(log: Log, metrics: Metrics): (facts: ServerFacts) => void {
  let isAccepted = false
  let policy: string | undefined
  metrics.gauge('fxd_redis_noeviction', '1 if Redis evicts no keys when its memory is full.', [], (gauge) => {
    // A gauge begins at 0, which means unsafe.
    if (policy === undefined) gauge.remove()
    else gauge.set(Number(policy === wantedPolicy))
  })
  return (facts) => {
    const before = policy
    policy = facts.policy
    if (Number.parseInt(facts.version, 10) < majorMin)
      throw new WrongServer(`Redis ${facts.version} is too old: install ${majorMin} or a newer one.`)
    if (facts.policy === wantedPolicy) isAccepted = true
    else if (!isAccepted)
      throw new WrongServer(
        `Redis evicts keys when its memory is full (maxmemory-policy ${facts.policy}): ${policyCure}.`,
      )
    else if (before !== policy)
      log.error(
        { policy, cure: policyCure },
        'Redis evicts keys when its memory is full; limits, slots and events may be lost',
      )
  }
}
