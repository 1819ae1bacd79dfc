import { bucketOpen } from '../../../core/bars/derive.ts'
import type { Window } from '../../../core/bars/window.ts'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'
import { durationSeconds } from '../../../core/feeds/resolution.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Window__Output } from '../../../wire/gen/fxd/v1/Window.ts'
import { refuseWhole } from '../../check/check-batch.ts'
import { checkWindow, tooManyWindows, type WindowFault } from '../../check/check-window.ts'
import type { FeedState } from '../../feed/feed-state.ts'
import type { ImportedSymbols } from '../../feed/imported-symbols.ts'
import type { LiveIntake } from '../../feed/live-intake.ts'
import { noCounts } from '../../feed/store-history.ts'
import { SessionEnd } from '../../session-end.ts'
import type { Acknowledgements } from './acknowledgements.ts'
import { type InFlight, windowPrecedes } from './in-flight.ts'

export interface SessionWindowsDeps {
  readonly clock: Clock
  readonly state: FeedState
  /** `undefined` in a live session. */
  readonly imported: ImportedSymbols | undefined
  readonly live: LiveIntake
  readonly inFlight: InFlight
  readonly acknowledgements: Acknowledgements
}

/** Stores the windows of one session, each after everything that it covers. */
export class SessionWindows {
  readonly #deps: SessionWindowsDeps

  constructor(deps: SessionWindowsDeps) {
    this.#deps = deps
  }

  /** Stores the window after the commit of all that it covers: no window may cover bars that a crash could lose. */
  take(message: Window__Output, digest: string): void {
    const { clock, state, imported, inFlight, acknowledgements } = this.#deps
    const { sequence } = message
    if (!acknowledgements.isNew(sequence, digest)) return
    const feed = state.registry.current()
    const window = checkWindow(message, {
      view: imported?.over(feed.view) ?? feed.view,
      definition: feed.definition,
      feedNow: state.now(feed, clock),
      isImport: imported !== undefined,
    })
    const refuse = (fault: WindowFault): void =>
      acknowledgements.answer(sequence, [refuseWhole(fault.reason, fault.message)], noCounts)
    if ('reason' in window) return refuse(window)
    if (!state.windows.reserve(window)) return refuse(tooManyWindows(window))
    const passed = inFlight.before(window)
    const begun = passed.then(() => {
      if (inFlight.hasFailed)
        throw new SessionEnd('UNAVAILABLE', 'bars that the window covers were not stored; connect again')
    })
    const written = begun.then(() => state.windows.add(window))
    const completed = begun.then(() => this.#publishComplete(window))
    const answered = Promise.all([written, completed]).then(() =>
      acknowledgements.answer(sequence, [], noCounts),
    )
    // A later window does not wait for this write: both may share one write. The end of the session does.
    inFlight.track('windows', { answered, done: written, passed }, windowPrecedes(window))
  }

  /** Publishes the whole minutes of a feed-wide window during its write: their bars are already stored. */
  async #publishComplete({ symbol, resolution, from, to }: Window): Promise<void> {
    if (symbol !== undefined || resolution !== '1') return
    const minute = durationSeconds[resolution]
    const first = bucketOpen(feedSeconds(from + minute - 1), resolution)
    const last = bucketOpen(feedSeconds(to - minute), resolution)
    if (first <= last) await this.#deps.live.complete(first, last)
  }
}
