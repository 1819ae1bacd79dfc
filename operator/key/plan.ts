/** What is kept of a secret so that `PutKey` can be repeated after any loss. */
export interface Digest {
  /** Counts the secrets of the key; the registry takes a greater one in place of a smaller one. */
  readonly issue: number
  /** `spec.issue` that asked for it. */
  readonly specIssue: number
  /** Hex. */
  readonly sha256: string
  readonly prefix: string
  /** Until when earlier secrets still open, UTC milliseconds: an instant, so that repeats prolong nothing. */
  readonly oldUntilMs: number
}

/** A secret in clear, in the Secret that delivers it. */
export interface Delivery {
  readonly issue: number
  readonly secret: string
}

export interface KeyState {
  /** `spec.issue`, 1 when left out. */
  readonly specIssue: number
  /** Of `spec.overlap`. */
  readonly overlapMs: number
  /** The user's own secret; `undefined`: the operator makes one. */
  readonly ownSecret: string | undefined
  readonly delivery: Delivery | undefined
  readonly digest: Digest | undefined
  /** What the registry held before the digest was read; 0: no such key. */
  readonly registryIssue: number
  /** The registry has the digest's issue with another secret. */
  readonly isRefused: boolean
  readonly nowMs: number
}

export type KeyStep =
  /** Make a new secret and write it into the Secret that delivers it. */
  | { readonly do: 'deliver'; readonly issue: number }
  /** Write the Secret `<name>-digest`. */
  | { readonly do: 'keep'; readonly digest: Digest }
  /** Tell the registry. */
  | { readonly do: 'put'; readonly digest: Digest }

/**
 * The next step for a key. First the secret is where its user finds it, then its digest is kept, then the registry is
 * told: a crash between two of them leaves a step that can be repeated. `hash` gives SHA-256 in hex.
 */
export function planKey(state: KeyState, hash: (secret: string) => string): KeyStep {
  const { digest, ownSecret, delivery, specIssue, overlapMs, nowMs } = state
  const isNew =
    digest === undefined ||
    specIssue > digest.specIssue ||
    (ownSecret !== undefined && hash(ownSecret) !== digest.sha256)
  const last = Math.max(digest?.issue ?? 0, state.registryIssue)
  if (!isNew) {
    // The digest is written before the registry: one that is behind came back from a backup, and its secret counts.
    const isBehind = digest.issue < last || state.isRefused
    if (!isBehind) return { do: 'put', digest }
    return { do: 'keep', digest: { ...digest, issue: last + 1, oldUntilMs: nowMs + overlapMs } }
  }
  const keep = (issue: number, secret: string): KeyStep => {
    // Without a digest nobody knows what the registry holds: that ends at once.
    const oldUntilMs = digest === undefined ? 0 : nowMs + overlapMs
    return {
      do: 'keep',
      digest: { issue, specIssue, sha256: hash(secret), prefix: secret.slice(0, 8), oldUntilMs },
    }
  }
  if (ownSecret !== undefined) return keep(last + 1, ownSecret)
  const isDelivered =
    delivery !== undefined && (digest === undefined ? delivery.issue >= last : delivery.issue > last)
  return isDelivered ? keep(delivery.issue, delivery.secret) : { do: 'deliver', issue: last + 1 }
}
