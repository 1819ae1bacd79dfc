import { isDeepStrictEqual } from 'node:util'
import type { FeedKey } from '../core/compound-key.ts'
import type { FeedDefinition } from '../core/feed.ts'
import type { Log } from '../platform/log/log.ts'

/** One collector at work. */
export interface Collecting {
  /** Resolves once nothing of it is left running. */
  stop(): Promise<void>
}

export interface Collectors {
  /** From here on these feeds are collected: new ones start, changed ones start anew, others end. */
  follow(definitions: readonly FeedDefinition[]): void
  stop(): Promise<void>
}

interface Running {
  readonly definition: FeedDefinition
  readonly collecting: Collecting | undefined
}

/** One collector per feed; `start` gives none for a feed that is pushed from elsewhere. */
export function createCollectors(
  start: (definition: FeedDefinition) => Collecting | undefined,
  log: Log,
): Collectors {
  const running = new Map<FeedKey, Running>()
  let changing: Promise<void> = Promise.resolve()
  let stopped = false

  const failed =
    (feed: FeedKey, what: 'started' | 'stopped') =>
    (cause: unknown): void =>
      log.error({ err: cause, feed }, `the collector of a feed could not be ${what}`)
  const change = async (definitions: readonly FeedDefinition[]): Promise<void> => {
    const wanted = new Map(definitions.map((definition) => [definition.key, definition]))
    const ending: Promise<void>[] = []
    for (const [key, { definition, collecting }] of running) {
      if (isDeepStrictEqual(wanted.get(key), definition)) wanted.delete(key)
      else {
        running.delete(key)
        if (collecting) ending.push(collecting.stop().catch(failed(key, 'stopped')))
      }
    }
    // The old collector of a changed feed would hold its lease against the new one.
    await Promise.all(ending)
    if (stopped) return
    for (const [key, definition] of wanted) {
      try {
        running.set(key, { definition, collecting: start(definition) })
      } catch (cause) {
        // Not running: the next change of the manifests tries it again. The others go on.
        failed(key, 'started')(cause)
      }
    }
  }
  const enqueue = (definitions: readonly FeedDefinition[]): Promise<void> => {
    changing = changing.then(() => change(definitions))
    return changing
  }

  return {
    follow: (definitions) => void enqueue(definitions),
    stop() {
      stopped = true
      return enqueue([])
    },
  }
}
