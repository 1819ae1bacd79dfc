import type { RegistryView } from '../../../core/registry/registry.ts'
import { show } from '../../../core/show.ts'
import type { LimitedLog } from '../../../platform/log/limited-log.ts'
import { Serial } from '../../../platform/serial.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Catalogue__Output } from '../../../wire/gen/fxd/v1/Catalogue.ts'
import type { CatalogueSymbol__Output } from '../../../wire/gen/fxd/v1/CatalogueSymbol.ts'
import { catalogueCharactersMax, catalogueSymbolsMax } from '../../../wire/limits.ts'
import {
  type CatalogueChange,
  type CatalogueRefusal,
  decideCatalogue,
  type WholeCatalogue,
} from '../../check/catalogue.ts'
import type { FeedState } from '../../feed/feed-state.ts'
import type { ImportedSymbols } from '../../feed/imported-symbols.ts'
import { waitForStore } from '../../feed/wait-for-store.ts'
import { SessionEnd } from '../../session-end.ts'
import type { CollectorStream } from '../stream/collector-stream.ts'
import { cataloguedParts } from './answers.ts'

/** Joins the parts of one catalogue. A part of another revision starts a new catalogue. */
class CatalogueParts {
  #revision: number | undefined
  #symbols: CatalogueSymbol__Output[] = []
  #removed: string[] = []
  #characters = 0

  /** Returns the whole catalogue after its last part, `undefined` before. */
  add({ revision, snapshot, last, symbols, removed }: Catalogue__Output): WholeCatalogue | undefined {
    if (revision !== this.#revision) this.#clear(revision)
    this.#symbols.push(...symbols)
    this.#removed.push(...removed)
    this.#characters += charactersOf(symbols, removed)
    bound(this.#symbols.length + this.#removed.length, 'symbols', catalogueSymbolsMax)
    bound(this.#characters, 'characters', catalogueCharactersMax)
    if (!last) return undefined
    const whole = { snapshot, symbols: this.#symbols, removed: this.#removed }
    this.#clear(undefined)
    return whole
  }

  #clear(revision: number | undefined): void {
    this.#revision = revision
    this.#symbols = []
    this.#removed = []
    this.#characters = 0
  }
}

function bound(count: number, what: string, max: number): void {
  if (count > max)
    throw new SessionEnd('RESOURCE_EXHAUSTED', `catalogue: got ${count} ${what}, wanted at most ${max}`)
}

const charactersOf = (symbols: readonly CatalogueSymbol__Output[], removed: readonly string[]): number => {
  const texts = symbols.flatMap((of) => [of.raw, of.name, of.display, of.description, of.type, of.session])
  return [...texts, ...removed].reduce((sum, { length }) => sum + length, 0)
}

const shown = (refused: readonly CatalogueRefusal[]): readonly CatalogueRefusal[] =>
  refused.slice(0, 20).map(({ raw, reason }) => ({ raw: show(raw), reason }))

interface CatalogueDeps {
  readonly clock: Clock
  /** Aborts when the session leaves. */
  readonly signal: AbortSignal
  readonly log: LimitedLog
  readonly stream: CollectorStream
  readonly state: FeedState
  /** `undefined` in a live session. */
  readonly imported: ImportedSymbols | undefined
}

/** Applies the catalogues of one session to the symbols of the feed, and answers with their names. */
export class SessionCatalogue {
  readonly #deps: CatalogueDeps
  readonly #parts = new CatalogueParts()
  readonly #catalogues = new Serial()
  #waiting = 0
  #isTaken = false

  constructor(deps: CatalogueDeps) {
    this.#deps = deps
  }

  /** True once a whole catalogue was answered. */
  get isTaken(): boolean {
    return this.#isTaken
  }

  /** Resolves when the next message may follow. After its first catalogue a live session waits only for two at once. */
  take(part: Catalogue__Output): Promise<void> | void {
    const whole = this.#parts.add(part)
    if (!whole) return
    const { stream, imported } = this.#deps
    this.#waiting += 1
    const taken = this.#catalogues
      .run(() => this.#take(whole, part.revision))
      .finally(() => {
        this.#waiting -= 1
      })
    if (!this.#isTaken || imported || this.#waiting > 1) return taken
    taken.catch(stream.fail)
  }

  async #take(whole: WholeCatalogue, revision: number): Promise<void> {
    await this.#nextTurn()
    const { log, stream, state, imported } = this.#deps
    const { absences, registry } = state
    const { watchedUntil } = state.windows
    const decide = (view: RegistryView): CatalogueChange =>
      decideCatalogue(whole, { ...registry.within(view), watchedUntil, absences })
    const change = () => (imported ? imported.take(whole.symbols) : registry.change(decide))
    const result = await waitForStore(change, this.#deps)
    const { symbols, refused } = result
    await this.#nextTurn()
    absences.note(result.absent, registry.current().view)
    if (refused.length > 0) log.write('warn', { refused: shown(refused) }, 'catalogue symbols rejected')
    log.write('info', { symbols: symbols.length, refused: refused.length }, 'catalogue accepted')
    for (const answer of cataloguedParts(revision, result)) {
      await this.#nextTurn()
      stream.send(answer)
    }
    this.#isTaken = true
  }

  /** Each step takes milliseconds for thousands of names. In one turn of the event loop, they would delay all clients. */
  #nextTurn(): Promise<void> {
    return new Promise((resolve) => this.#deps.clock.soon(resolve))
  }
}
