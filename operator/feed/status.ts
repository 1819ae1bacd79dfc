import type { UtcMs } from '../../services/core/clocks/feed-clock.ts'
import type { Feed__Output } from '../../services/wire/gen/fxd/v1/Feed.ts'
import { heldConditions, type Outcome, outcome, readyOf, timeText } from '../kube/condition.ts'
import type { FeedStatus } from '../kube/kinds.ts'
import type { NotReady } from '../kube/not-ready.ts'
import type { FeedObject, Workload } from '../kube/resources.ts'
import { isRollingOut, isUnseen } from '../kube/rollout.ts'
import type { StoreOutcomes } from '../store-health.ts'
import { underStores } from '../under-stores.ts'
import { feedKeyOf } from './objects.ts'
import { terminalNames } from './terminal.ts'

export interface FeedFacts {
  readonly feed: FeedObject
  /** The feed in the registry; `undefined`: it is missing or belongs to another object. */
  readonly registered: Feed__Output | undefined
  /** Whether `registered` may be more than a minute old. */
  readonly isOutdated: boolean
  /** `undefined`: ingest was not asked yet. */
  readonly stores: StoreOutcomes | undefined
  readonly collectors: Workload | undefined
  /** Where its terminals post; none unless its source is Terminal. */
  readonly addresses: readonly string[]
  /** UTC milliseconds. */
  readonly tokenExpires: number | undefined
  /** Why reconciling stopped; `undefined`: it did not. */
  readonly blocked: NotReady | undefined
  readonly held: number
  readonly nowMs: UtcMs
}

export function feedStatusOf(facts: FeedFacts): FeedStatus {
  const { feed, registered, isOutdated, addresses, tokenExpires, nowMs } = facts
  const { generation = 0 } = feed.metadata
  const about = { generation, had: feed.status?.conditions, nowMs }
  return {
    observedGeneration: generation,
    key: feedKeyOf(feed),
    ...(registered && shown(registered, isOutdated)),
    ...(addresses.length > 0 && { addresses }),
    ...(tokenExpires !== undefined && { tokenExpires: timeText(tokenExpires) }),
    conditions: [
      ...underStores(readiness(facts), facts.stores, about),
      ...heldConditions(facts.held, 'feeds', about),
    ],
  }
}

const states = ['live', 'stale', 'offline'] as const

const shown = (
  { status, symbolCount, clockOffsetSeconds, lastBarTime }: Feed__Output,
  isOutdated: boolean,
): Partial<FeedStatus> => {
  const state = isOutdated ? undefined : states.find((each) => each === status)
  return {
    ...(state && { state }),
    symbols: symbolCount,
    ...(clockOffsetSeconds !== undefined && { offsetSeconds: clockOffsetSeconds }),
    // The time is on the feed's clock, so it has no zone.
    ...(lastBarTime !== undefined && { newestBar: timeText(lastBarTime * 1_000).slice(0, -1) }),
  }
}

function readiness(facts: FeedFacts): Outcome {
  const { feed, collectors, blocked } = facts
  if (blocked) return outcome('False', blocked.reason, blocked.message)
  if (feed.spec.source.type === 'Push')
    return outcome(
      'True',
      'Registered',
      `The feed is registered; its token is in the Secret ${feed.metadata.name}-token.`,
    )
  const had = readyOf(feed.status?.conditions)
  const isKnown = feed.status?.observedGeneration === feed.metadata.generation && had !== undefined
  // The StatefulSet's controller has not seen the last change yet.
  if (collectors && isUnseen(collectors) && isKnown) return had
  const ready = collectors?.status?.readyReplicas ?? 0
  if (collectors && (isRollingOut(collectors) || (ready > 0 && isUnseen(collectors))))
    return outcome(
      'False',
      'CollectorRestarting',
      'The pods of the collector are being replaced; new pods continue where the old ones ended.',
    )
  const wanted = collectors?.spec?.replicas ?? 0
  if (ready > 0) {
    const running =
      ready < wanted
        ? `The feed is registered; ${ready} of ${wanted} collectors are ready.`
        : 'The feed is registered and its collector runs.'
    return outcome('True', 'Collecting', [running, ...terminalAdvice(facts)].join(' '))
  }
  return outcome(
    'False',
    'CollectorStarting',
    `No collector is ready yet; check the pods of the StatefulSet ${feed.metadata.name}-collector.`,
  )
}

const terminalAdvice = ({ feed, addresses }: FeedFacts): readonly string[] =>
  addresses.map(
    (address) =>
      `A terminal posts to ${address} with the token in the Secret ${terminalNames(feed.metadata.name).secret}.`,
  )
