import { type BarFault, fault } from '../../../core/bars/bar-rules.ts'
import { bucketOpen } from '../../../core/bars/derive.ts'
import type { Window } from '../../../core/bars/window.ts'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'
import { durationSeconds } from '../../../core/feeds/resolution.ts'
import type { LimitedLog } from '../../../platform/log/limited-log.ts'
import type { Window__Output } from '../../../wire/gen/fxd/v1/Window.ts'
import { refuseWhole } from '../../check/check-batch.ts'
import { type CheckedWindow, checkWindow, tooManyWindows } from '../../check/check-window.ts'
import type { Reserved } from '../../feed/feed-windows.ts'
import { manyWindows } from '../../feed/separate-windows.ts'
import { noCounts } from '../../feed/store-history.ts'
import { SessionEnd } from '../../session-end.ts'
import { windowPrecedes } from './in-flight.ts'
import type { SessionBarsDeps } from './session-bars.ts'

export interface SessionWindowsDeps
  extends Omit<SessionBarsDeps, 'rereadable' | 'backfill' | 'isPartitioned'> {
  readonly log: LimitedLog
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
    const checked = checkWindow(message, {
      view: imported?.over(feed.view) ?? feed.view,
      definition: feed.definition,
      feedNow: state.now(feed, clock),
      isImport: imported !== undefined,
    })
    if ('reason' in checked) return this.#refuse(sequence, checked)
    const missing = inFlight.scattered.inside(checked.window)
    if (missing !== undefined) return this.#refuse(sequence, missingBar(checked.window, missing))
    const reserved = state.windows.reserve(checked.window)
    if (typeof reserved === 'string') return this.#refuse(sequence, tooManyWindows(checked.window, reserved))
    this.#nameMany(reserved)
    const { window } = reserved
    const passed = inFlight.before(checked.window)
    const begun = passed.then(() => {
      if (inFlight.hasFailed)
        throw new SessionEnd('UNAVAILABLE', 'bars that the window covers were not stored; connect again')
    })
    const written = begun.then(() => state.windows.add(window))
    const completed = begun.then(() => this.#publishComplete(checked))
    const answered = Promise.all([written, completed]).then(() =>
      acknowledgements.answer(sequence, [], noCounts),
    )
    // A later window does not wait for this write: both may share one write.
    inFlight.track('windows', { answered, barriers: [{ precedes: windowPrecedes(window), passed }] })
  }

  #refuse(sequence: number, { reason, message }: BarFault): void {
    const { log, metrics, acknowledgements } = this.#deps
    metrics.refusedWindow(reason)
    log.write('warn', { reason, why: message }, 'window rejected')
    acknowledgements.answer(sequence, [refuseWhole(reason, message)], noCounts)
  }

  #nameMany({ window, separate }: Exclude<Reserved, string>): void {
    if (separate <= manyWindows) return
    const { feed, symbol = feed, resolution } = window
    const fields = { series: symbol, resolution, windows: separate }
    this.#deps.log.write('warn', fields, 'a series has many separate windows')
  }

  /** Publishes the whole minutes of a feed-wide window during its write: their bars are already stored. */
  async #publishComplete({ window, end }: CheckedWindow): Promise<void> {
    const { symbol, resolution, from } = window
    if (symbol !== undefined || resolution !== '1') return
    const minute = durationSeconds[resolution]
    const first = bucketOpen(feedSeconds(from + minute - 1), resolution)
    const last = bucketOpen(feedSeconds(end - minute), resolution)
    if (first <= last) await this.#deps.state.live.complete(first, last)
  }
}

const missingBar = ({ from, to }: Window, time: number): BarFault =>
  fault(
    'MALFORMED',
    `from, to: got ${from}, ${to}, wanted no refused bar inside: send the bar of ${time} again, by time`,
  )
