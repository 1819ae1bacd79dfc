import type { UtcMs } from '../../services/core/clocks/feed-clock.ts'
import { oldSecretsMax } from '../../services/core/keys/api-key.ts'

/** The stored digest of a secret, with which `PutKey` can be repeated after any loss. */
export interface Digest {
  /** Number of the key's secret. The registry replaces a secret only by one with a higher issue. */
  readonly issue: number
  /** `spec.issue` for which this secret was made. */
  readonly specIssue: number
  /** Hex. */
  readonly sha256: string
  readonly prefix: string
  /** When earlier secrets expire, UTC milliseconds. An instant, so that repeats do not extend it. */
  readonly oldUntilMs: number
  /** Secret that delivers a made secret; '' for a user's own secret. */
  readonly deliveredTo: string
}

/** A secret in clear text, in the Secret that delivers it. */
export interface Delivery {
  readonly issue: number
  readonly secret: string
}

export interface KeyState {
  /** `spec.issue`, 1 when left out. Lower than the digest's only after the object was made again. */
  readonly specIssue: number
  /** `spec.overlap` in milliseconds. */
  readonly overlapMs: number
  /** The user's own secret; `undefined`: the operator makes one. */
  readonly ownSecret: string | undefined
  readonly delivery: Delivery | undefined
  readonly deliveredTo: string
  readonly digest: Digest | undefined
  /** Issue in the registry, read before the digest; 0: the registry lacks the key. */
  readonly registryIssue: number
  /** Old secrets in the registry that are still valid. */
  readonly oldSecrets: number
  /** Whether the registry has the digest's issue with another secret. */
  readonly isRefused: boolean
  readonly nowMs: UtcMs
}

type KeyStep =
  /** Make no secret: the registry refuses a further one until an old one ends. */
  | { readonly do: 'wait' }
  /** Make a new secret and write it into the Secret that delivers it. */
  | { readonly do: 'deliver'; readonly issue: number }
  /** Write the Secret `<name>-digest`. */
  | { readonly do: 'store'; readonly digest: Digest }
  | { readonly do: 'put'; readonly digest: Digest }

/** Delivers the secret, stores its digest, then puts it: after a crash the next step can be repeated. `hash`: SHA-256 in hex. */
export function planKey(state: KeyState, hash: (secret: string) => string): KeyStep {
  const { digest, ownSecret, delivery, deliveredTo, specIssue, overlapMs, nowMs } = state
  const last = Math.max(digest?.issue ?? 0, state.registryIssue)
  const isNew =
    digest === undefined ||
    specIssue > digest.specIssue ||
    (ownSecret === undefined
      ? // A rotation began for an earlier object of this name.
        (delivery !== undefined && delivery.issue > last) ||
        // An earlier object of this name delivered its secret elsewhere.
        digest.deliveredTo !== deliveredTo
      : hash(ownSecret) !== digest.sha256)
  if (!isNew) {
    // The digest is written before the registry. An older one was restored from a backup, and its secret is the valid one.
    const isBehind = digest.issue < last || state.isRefused
    // The digest outlived an earlier object of this name: the next issue of this one must rotate.
    if (!isBehind && specIssue < digest.specIssue) return { do: 'store', digest: { ...digest, specIssue } }
    if (!isBehind) return { do: 'put', digest }
    return { do: 'store', digest: { ...digest, issue: last + 1, oldUntilMs: nowMs + overlapMs } }
  }
  const store = (issue: number, secret: string): KeyStep => {
    // Without a digest the registry's secret is unknown, so it expires immediately.
    const oldUntilMs = digest === undefined ? 0 : nowMs + overlapMs
    return {
      do: 'store',
      digest: {
        issue,
        specIssue,
        sha256: hash(secret),
        prefix: secret.slice(0, 8),
        oldUntilMs,
        deliveredTo: ownSecret === undefined ? deliveredTo : '',
      },
    }
  }
  // Without a digest the old secrets end immediately.
  const isFull = digest !== undefined && overlapMs > 0 && state.oldSecrets >= oldSecretsMax
  if (ownSecret !== undefined) return isFull ? { do: 'wait' } : store(last + 1, ownSecret)
  const isDelivered =
    delivery !== undefined && (digest === undefined ? delivery.issue >= last : delivery.issue > last)
  if (isDelivered) return store(delivery.issue, delivery.secret)
  return isFull ? { do: 'wait' } : { do: 'deliver', issue: last + 1 }
}
