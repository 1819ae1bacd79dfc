import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { hasEnded } from '../../../core/bars/closed.ts'
import type { FeedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { FeedDefinition } from '../../../core/feeds/feed.ts'
import { cleanNames } from '../../../core/feeds/symbol-name.ts'
import { openRegular } from '../../../platform/files/open-regular.ts'
import type { Log } from '../../../platform/log/log.ts'
import type { SourceSeries, SourceSymbol } from '../../source.ts'
import type { FineLine } from './export/good-lines.ts'
import { type MostDecimals, mostDecimals } from './export/most-decimals.ts'
import type { BadLine, Chunk, OpenFile } from './export/read-export.ts'
import { failureOf } from './file-fault.ts'
import { FileIndex } from './file-index.ts'
import { FollowedFile } from './followed-file.ts'
import { createListing, type ListedFile } from './listing.ts'
import { SymbolDigits } from './symbol-digits.ts'

/** Maximum bad lines of one read that are logged; further ones are counted. */
const badLinesLoggedMax = 20

export interface ExportFilesDeps {
  readonly definition: FeedDefinition
  readonly path: string
  /** "Now" on the feed's clock; `undefined` when that clock is measured. */
  readonly now: () => FeedSeconds | undefined
  /** Whether lines are added to the files; otherwise they are finished. */
  readonly follow: boolean
  readonly log: Log
}

/** Opens a file only within the folder: a user who may write links there must not choose other files to be read. */
const openWithin =
  (folder: string | undefined): OpenFile =>
  (path) =>
    openRegular(path, folder)

export class ExportFiles {
  readonly #deps: ExportFilesDeps
  readonly #list: () => Promise<readonly ListedFile[]>
  readonly #nameOf: (raw: string) => string
  readonly index = new FileIndex()
  readonly #digits = new SymbolDigits()
  /** Most decimals of a line that were logged, of each listed symbol. */
  readonly #loggedDecimals = new Map<string, number>()
  /** Called for a symbol whose digits were raised: all its lines must be read again. */
  onRaised: (raw: string) => void = () => undefined
  /** Files without a usable bar, with the size and time of modification at that check. */
  readonly #barless = new Map<string, string>()
  /** The raw name of each clean name. */
  readonly #raws = new Map<string, string>()
  /** How often all symbols were to be listed again: one got another raw name, or has no file any more. */
  relistings = 0
  readonly #misnamed = new Set<string>()

  constructor(deps: ExportFilesDeps) {
    this.#deps = deps
    this.#nameOf = cleanNames(deps.definition)
    this.#list = createListing(deps.path, deps.definition, deps.log)
  }

  /**
   * Forgets files that are gone. Adds new files and returns their series. A file without a bar, or that is no export, is
   * checked again when it changes.
   */
  async refresh(): Promise<readonly SourceSeries[]> {
    const added: SourceSeries[] = []
    const files = await this.#list()
    this.#forgetOthers(new Set(files.map(({ path }) => path)))
    for (const file of files) {
      if (this.index.has(file.path) || this.#hasOtherName(file)) continue
      if (!(await this.#knowsDigits(file))) continue
      this.index.add(this.#follow(file))
      added.push(file.series)
    }
    for (const file of this.index.all()) this.#noteName(file.series.raw)
    return added
  }

  #noteName(raw: string): void {
    const clean = this.#nameOf(raw)
    const before = this.#raws.get(clean)
    if (before === raw || (before !== undefined && this.index.resolutionsOf(before).length > 0)) return
    if (before !== undefined) this.relistings += 1
    this.#raws.set(clean, raw)
  }

  /** Forgets what has none of these paths: files that are renamed repeatedly would take ever more memory. */
  #forgetOthers(paths: ReadonlySet<string>): void {
    for (const file of this.index.all()) if (!paths.has(file.path)) this.#forget(file)
    for (const path of this.#barless.keys()) if (!paths.has(path)) this.#barless.delete(path)
    for (const path of this.#misnamed) if (!paths.has(path)) this.#misnamed.delete(path)
    for (const raw of this.#digits.symbols)
      if (this.index.resolutionsOf(raw).length === 0) this.#digits.forget(raw)
  }

  /** A symbol without a file leaves the catalogue. Otherwise feed-wide windows would claim its unread minutes. */
  #forget(file: FollowedFile): void {
    this.index.remove(file)
    if (this.index.resolutionsOf(file.series.raw).length === 0) this.relistings += 1
  }

  /** True when the manifest has another raw name for the file's clean name: the service would refuse the file's symbol. */
  #hasOtherName({ path, series: { raw } }: ListedFile): boolean {
    if (this.#listed(raw)) return false
    const { definition, log } = this.#deps
    const clean = this.#nameOf(raw)
    const meant = definition.symbols.find((each) => this.#nameOf(each.raw) === clean)
    if (meant === undefined) return false
    if (!this.#misnamed.has(path)) {
      const wanted = basename(path).replace(raw, meant.raw)
      const why = `the manifest lists ${meant.raw}, not ${raw}; name the file ${wanted}`
      log.warn({ file: path, why }, 'file not read')
    }
    this.#misnamed.add(path)
    return true
  }

  /** Determines the digits of a symbol that the manifest does not list, from its files. */
  async #knowsDigits(file: ListedFile): Promise<boolean> {
    const { path, series } = file
    const { raw } = series
    if (this.#listed(raw)) return true
    const now = await stat(path).catch(() => undefined)
    // Two writes may have the same modification time, so the size is compared too.
    const state = now && `${now.size} ${now.mtimeMs}`
    if (state === undefined || this.#barless.get(path) === state) return false
    this.#barless.set(path, state)
    const found = await this.#mostDecimals(file)
    if (found === undefined) return false
    this.#barless.delete(path)
    this.#digits.raise(raw, found.digits)
    const digits = this.#digits.of(raw)
    const { odd } = found
    if (odd && odd.decimals > this.#decimalsMaxOf(raw))
      this.#deps.log.warn(
        { file: path, ...odd, digits },
        'one line alone has more decimals and does not decide the digits; set them in spec.symbols.list',
      )
    return true
  }

  /** Returns `undefined` when the file has no bar yet; a log line says so if it has other lines, or cannot be read. */
  async #mostDecimals({ path, folder, series }: ListedFile): Promise<MostDecimals | undefined> {
    const { log } = this.#deps
    let badLines = 0
    const onChunk = ({ bad }: Chunk): void => void (badLines += bad.length)
    try {
      const found = await mostDecimals(path, series.resolution, { openFile: openWithin(folder), onChunk })
      // A single line may still be being written.
      if (found === undefined && badLines > 1)
        log.warn({ file: path, badLines }, 'none of the first lines is a bar; ignored until the file changes')
      return found
    } catch (cause) {
      const { why, cause: err } = failureOf(path, cause)
      log.warn({ file: path, why, err }, 'failed to read a file; ignored until it changes')
      return undefined
    }
  }

  symbols(of: readonly SourceSeries[]): SourceSymbol[] {
    return [...new Set(of.map(({ raw }) => raw))].map((raw) => ({
      ...this.#listed(raw),
      raw,
      digits: this.digitsOf(raw),
      resolutions: this.index.resolutionsOf(raw),
    }))
  }

  #listed(raw: string) {
    return this.#deps.definition.symbols.find((symbol) => symbol.raw === raw)
  }

  digitsOf(raw: string): number {
    return this.#listed(raw)?.digits ?? this.#digits.of(raw)
  }

  #decimalsMaxOf(raw: string): number {
    return this.digitsOf(raw) + this.#halfUnit
  }

  /** Decimals that a price of a mid-quoted feed may have beyond the digits. */
  get #halfUnit(): number {
    return this.#deps.definition.quoteBasis === 'Mid' ? 1 : 0
  }

  #noteTooFine(path: string, raw: string, lines: readonly FineLine[]): void {
    const { log } = this.#deps
    const before = this.digitsOf(raw)
    if (this.#listed(raw)) return this.#logListed(path, raw, lines)
    const needed = lines.map(({ line, decimals }) => ({ path, line, decimals: decimals - this.#halfUnit }))
    if (needed.filter((line) => this.#digits.note(raw, line)).length === 0) return
    const digits = this.digitsOf(raw)
    log.warn(
      { file: path, symbol: raw, before, digits },
      'prices with more decimals; all lines of the symbol are read again',
    )
    this.onRaised(raw)
  }

  /** Logs the cure once, and again for more decimals. */
  #logListed(path: string, raw: string, lines: readonly FineLine[]): void {
    const decimals = lines.reduce((most, each) => Math.max(most, each.decimals - this.#halfUnit), 0)
    if (decimals <= (this.#loggedDecimals.get(raw) ?? 0)) return
    this.#loggedDecimals.set(raw, decimals)
    const digits = this.digitsOf(raw)
    this.#deps.log.warn(
      { file: path, symbol: raw, digits, decimals },
      'lines rejected: their prices have more decimals than the digits in spec.symbols.list; raise these digits',
    )
  }

  get rejectedLines(): number {
    return this.index.all().reduce((sum, file) => sum + file.rejectedLines, 0)
  }

  #follow({ path, folder, series }: ListedFile): FollowedFile {
    const { definition, now: nowOnFeed, follow, log } = this.#deps
    const delaySeconds = this.#listed(series.raw)?.delaySeconds ?? definition.delaySeconds
    const hasCome = (time: number): boolean => {
      const now = nowOnFeed()
      return now !== undefined && time <= now
    }
    let isReported = false
    return new FollowedFile({
      path,
      openFile: openWithin(folder),
      series,
      finished: !follow,
      decimalsMax: () => this.#decimalsMaxOf(series.raw),
      reportsTicks: definition.clock.mode !== 'Measured' || delaySeconds === 0,
      now: nowOnFeed,
      hasEnded: (open) => hasEnded(open, series.resolution, { now: nowOnFeed(), delaySeconds }),
      hasBegun: (open) => hasCome(open + delaySeconds),
      showsTime: (open) => (definition.clock.mode === 'Measured' ? delaySeconds === 0 : hasCome(open)),
      onBad: (bad: readonly BadLine[]) =>
        log.warn(
          { file: path, badLines: bad.length, first: bad.slice(0, badLinesLoggedMax) },
          'lines rejected',
        ),
      onSpacing: (fault) => {
        if (isReported) return
        isReported = true
        const { resolution } = series
        log.warn(
          { file: path, resolution, why: fault },
          'bars contradict the name of their file; stored by its name',
        )
      },
      onTooFine: (lines) => this.#noteTooFine(path, series.raw, lines),
    })
  }
}
