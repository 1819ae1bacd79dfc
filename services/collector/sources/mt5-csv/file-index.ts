import { basename } from 'node:path'
import { type Resolution, storedResolutions } from '../../../core/feeds/resolution.ts'
import { type RawSeriesId, rawSeriesId } from '../../series/series-id.ts'
import type { SourceSeries } from '../../source.ts'
import type { FollowedFile } from './followed-file.ts'

export class FileIndex {
  readonly #byPath = new Map<string, FollowedFile>()
  readonly #byName = new Map<string, FollowedFile>()
  readonly #bySeries = new Map<RawSeriesId, readonly FollowedFile[]>()

  add(file: FollowedFile): void {
    const { path, series } = file
    this.#byPath.set(path, file)
    this.#byName.set(basename(path), file)
    const id = rawSeriesId(series)
    const files = [...(this.#bySeries.get(id) ?? []), file]
    files.sort((a, b) => (a.path < b.path ? -1 : 1))
    this.#bySeries.set(id, files)
  }

  remove(file: FollowedFile): void {
    const { path, series } = file
    this.#byPath.delete(path)
    this.#byName.delete(basename(path))
    const others = this.of(series).filter((each) => each !== file)
    if (others.length > 0) this.#bySeries.set(rawSeriesId(series), others)
    else this.#bySeries.delete(rawSeriesId(series))
  }

  has(path: string): boolean {
    return this.#byPath.has(path)
  }

  all(): readonly FollowedFile[] {
    return [...this.#byPath.values()]
  }

  named(name: string): FollowedFile | undefined {
    return this.#byName.get(name)
  }

  /** Returns the files of one series in the order of their names. Several files may have bars of it, such as one per year. */
  of(series: SourceSeries): readonly FollowedFile[] {
    return this.#bySeries.get(rawSeriesId(series)) ?? []
  }

  resolutionsOf(raw: string): readonly Resolution[] {
    return storedResolutions.filter((resolution) => this.of({ raw, resolution }).length > 0)
  }
}
