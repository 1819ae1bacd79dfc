import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bar, exportText, line } from './bars.ts'
import { run } from './command.ts'
import { target } from './target.ts'

/** A file that the terminal of a feed keeps writing. */
export class FollowedFile {
  readonly #path: string
  /** Beside the followed folders: a rename from here is seen as a whole file at once. */
  readonly #draft: string

  /** @param folder the manifest's name @param file for example `EURUSD.z_M1.csv` */
  constructor(folder: string, file: string) {
    mkdirSync(join(target().input, folder), { recursive: true })
    this.#path = join(target().input, folder, file)
    this.#draft = join(target().input, `${folder}-${file}.draft`)
  }

  /** The whole export at once, as a terminal writes it: never seen half done. */
  write(bars: readonly Bar[]): void {
    writeFileSync(this.#draft, exportText(bars))
    renameSync(this.#draft, this.#path)
  }

  append(...bars: Bar[]): void {
    appendFileSync(this.#path, bars.map(line).join(''))
  }

  /** Text as it is: half lines, damaged lines. */
  appendText(text: string): void {
    appendFileSync(this.#path, text)
  }
}

export interface ImportReport {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** What `--json` printed. */
  readonly json: Record<string, unknown>
}

/** `fxd import FILE --feed … --symbol … --resolution … --json`; ends once the bars are visible. */
export const importFile = async (
  file: string,
  options: { feed: string; symbol: string; resolution: string; more?: readonly string[] },
): Promise<ImportReport> => {
  const { feed, symbol, resolution, more = [] } = options
  const args = [file, '--feed', feed, '--symbol', symbol, '--resolution', resolution, ...more, '--json']
  const outcome = await run(target().importer, args, 120_000)
  const text = outcome.stdout.trim()
  return { ...outcome, json: text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {} }
}
