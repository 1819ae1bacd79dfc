import type { UtcMs } from '../../services/core/clocks/feed-clock.ts'
import type { Key__Output } from '../../services/wire/gen/fxd/v1/Key.ts'
import { conditionOf, heldConditions, type Outcome, outcome, timeText } from '../kube/condition.ts'
import type { ApiKeyStatus } from '../kube/kinds.ts'
import type { NotReady } from '../kube/not-ready.ts'
import type { ApiKeyObject } from '../kube/resources.ts'

interface KeyFacts {
  readonly key: ApiKeyObject
  /** The key in the registry; `undefined`: it is missing or belongs to another object. */
  readonly registered: Key__Output | undefined
  /** Name of the Secret with the key in clear text; `undefined`: it does not exist. */
  readonly secretName: string | undefined
  readonly blocked: NotReady | undefined
  readonly held: number
  readonly nowMs: UtcMs
}

const states = ['active', 'expired', 'inactive'] as const

/** The status that `kubectl get apikeys` shows. It contains neither the key nor its digest. */
export function keyStatusOf(facts: KeyFacts): ApiKeyStatus {
  const { key, registered, secretName, nowMs } = facts
  const { generation = 0 } = key.metadata
  const about = { generation, had: key.status?.conditions, nowMs }
  return {
    observedGeneration: generation,
    ...(registered && shown(registered, nowMs)),
    ...(secretName !== undefined && { secretName }),
    conditions: [
      conditionOf('Ready', readiness(facts), about),
      ...heldConditions(facts.held, 'apikeys', about),
    ],
  }
}

/** Milliseconds until the key expires; `undefined`: it never does, or has. */
export function expiresInMs(registered: Key__Output | undefined, nowMs: UtcMs): number | undefined {
  const leftMs = (registered?.expiresAt ?? 0) - nowMs
  return leftMs > 0 ? leftMs : undefined
}

export const isExpired = (registered: Key__Output | undefined, nowMs: UtcMs): boolean =>
  registered !== undefined && stateOf(registered, nowMs) === 'expired'

/** The key may have expired since the registry was read. */
const stateOf = ({ state, expiresAt }: Key__Output, nowMs: UtcMs): string =>
  state === 'active' && expiresAt !== undefined && nowMs >= expiresAt ? 'expired' : state

function shown(key: Key__Output, nowMs: UtcMs): Partial<ApiKeyStatus> {
  const { id, prefix, issue, expiresAt, oldSecretUntil = 0 } = key
  const known = states.find((each) => each === stateOf(key, nowMs))
  return {
    id,
    prefix,
    issue,
    ...(known && { state: known }),
    ...(expiresAt !== undefined && { expiresAt: timeText(expiresAt) }),
    ...(oldSecretUntil > nowMs && { oldSecretUntil: timeText(oldSecretUntil) }),
  }
}

/** A revoked or expired key matches its object, but it cannot be used. */
function readiness({ key, registered, blocked, nowMs }: KeyFacts): Outcome {
  if (blocked) return outcome('False', blocked.reason, blocked.message)
  if (key.spec.revoked) return outcome('False', 'Revoked', 'The key is revoked and cannot be used again.')
  if (isExpired(registered, nowMs))
    return outcome('False', 'Expired', 'The key is expired; change spec.expires to use it again.')
  return outcome('True', 'Active', 'The key can be used.')
}
