import { basename } from 'node:path'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import type { SourceSeries } from '../source.ts'
import type { FollowedFile } from './followed-file.ts'

/** Index of the exports found so far, by path, by name and by series. */
export class FileIndex {
  readonly #byPath = new Map<string, FollowedFile>()
  readonly #byName = new Map<string, FollowedFile>()
  readonly #bySeries = new Map<string, FollowedFile[]>()
  readonly #resolutions = new Map<string, Set<Resolution>>()

  add(file: FollowedFile): void {
    const { path, series } = file.options
    this.#byPath.set(path, file)
    this.#byName.set(basename(path), file)
    const id = idOf(series)
    const files = [...(this.#bySeries.get(id) ?? []), file]
    this.#bySeries.set(
      id,
      files.sort((a, b) => (a.options.path < b.options.path ? -1 : 1)),
    )
    const resolutions = this.#resolutions.get(series.raw) ?? new Set()
    this.#resolutions.set(series.raw, resolutions.add(series.resolution))
  }

  has(path: string): boolean {
    return this.#byPath.has(path)
  }

  all(): readonly FollowedFile[] {
    return [...this.#byPath.values()]
  }

  /** Finds a file by its name within the folder. */
  named(name: string): FollowedFile | undefined {
    return this.#byName.get(name)
  }

  /** Returns the files of one series in the order of their names. Several files may have bars of it, such as one per year. */
  of(series: SourceSeries): readonly FollowedFile[] {
    return this.#bySeries.get(idOf(series)) ?? []
  }

  resolutionsOf(raw: string): readonly Resolution[] {
    return [...(this.#resolutions.get(raw) ?? [])]
  }
}

const idOf = ({ raw, resolution }: SourceSeries): string => `${resolution} ${raw}`
