import type { Range } from '../../../clients/typescript/src/types.ts'
import { element } from '../elements.ts'
import { timeText } from '../texts/words.ts'
import { runsOf, statesOf } from './answered.ts'

const day = 86_400
const headHeight = 20
const labelWidth = 104
const cellWidthLeast = 3
/** With more rows than this they have no labels, and are low. */
const labelledMax = 300

export interface WallRow {
  readonly symbol: string
  readonly label: string
  readonly ranges: readonly Range[]
}

export interface Wall {
  readonly rows: readonly WallRow[]
  /** Begin of the first day on the clock of the feed. */
  readonly firstDay: number
  readonly days: number
  /** The present time on the clock of the feed. */
  readonly now: number
}

export interface Cell {
  readonly row: number
  readonly day: number
}

/** One picture: a row for each symbol, a column for each day. Arrows and the pointer choose a cell. */
export class WallCanvas {
  readonly element = element('canvas', {
    tabindex: 0,
    role: 'img',
    'aria-label': 'Symbols by days. Arrows choose a cell; its minutes are named below.',
  })
  readonly #chosen: (cell: Cell) => void
  /** Width that the window has for the picture. */
  readonly #room: () => number
  #wall: Wall = { rows: [], firstDay: 0, days: 0, now: 0 }
  #cell: Cell | undefined

  constructor(chosen: (cell: Cell) => void, room: () => number) {
    this.#chosen = chosen
    this.#room = room
    this.element.addEventListener('click', (event) => this.#click(event))
    this.element.addEventListener('keydown', (event) => this.#move(event))
  }

  show(wall: Wall): void {
    this.#wall = wall
    this.#cell = undefined
    this.draw()
  }

  draw(): void {
    const { rows, firstDay, days, now } = this.#wall
    const { left, width, height } = this.#sizes()
    const [fullWidth, fullHeight] = [left + days * width, headHeight + rows.length * height]
    const context = this.#prepare(fullWidth, fullHeight)
    const color = colors()
    rows.forEach(({ label, ranges }, row) => {
      const top = headHeight + row * height
      for (const { state, at, length } of runsOf(statesOf(ranges, firstDay, days, now))) {
        context.fillStyle = color[state]
        context.fillRect(left + at * width, top, length * width, height)
      }
      if (left > 0) {
        context.fillStyle = color.text
        context.fillText(label, 0, top + height / 2, left - 8)
      }
    })
    context.fillStyle = color.panel
    if (height > 6)
      for (let row = 0; row <= rows.length; row++)
        context.fillRect(0, headHeight + row * height, fullWidth, 1)
    for (let i = 0; i < days; i++) {
      const date = timeText(firstDay + i * day, true)
      if (width > 6) context.fillRect(left + i * width, headHeight, 1, fullHeight)
      if (!date.endsWith('-01') && i > 0) continue
      if (i > 0 || !hasMonthSoon(firstDay, width)) {
        context.fillStyle = color.text
        context.fillText(date.slice(0, 7), left + i * width, headHeight / 2)
        context.fillStyle = color.panel
      }
    }
    this.#drawChosen(context, color.text)
  }

  #drawChosen(context: CanvasRenderingContext2D, color: string): void {
    if (!this.#cell) return
    const { left, width, height } = this.#sizes()
    context.strokeStyle = color
    context.lineWidth = 2
    context.strokeRect(left + this.#cell.day * width, headHeight + this.#cell.row * height, width, height)
  }

  #prepare(width: number, height: number): CanvasRenderingContext2D {
    const { element: canvas } = this
    const scale = window.devicePixelRatio
    canvas.width = width * scale
    canvas.height = height * scale
    canvas.style.width = `${width}px`
    canvas.style.height = `${height}px`
    const context = canvas.getContext('2d')
    if (!context) throw new Error('this browser has no canvas')
    context.scale(scale, scale)
    context.font = `12px ${getComputedStyle(document.body).fontFamily}`
    context.textBaseline = 'middle'
    return context
  }

  /** Width of labels, and of a cell. */
  #sizes(): { left: number; width: number; height: number } {
    const { rows, days } = this.#wall
    const isLabelled = rows.length <= labelledMax
    const left = isLabelled ? labelWidth : 0
    const width = Math.max(cellWidthLeast, Math.floor((this.#room() - left) / days))
    return { left, width, height: isLabelled ? 16 : 5 }
  }

  #click({ offsetX, offsetY }: MouseEvent): void {
    const { left, width, height } = this.#sizes()
    this.#choose(Math.floor((offsetY - headHeight) / height), Math.floor((offsetX - left) / width))
  }

  #move(event: KeyboardEvent): void {
    const steps: Readonly<Record<string, readonly [row: number, day: number]>> = {
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
    }
    const step = steps[event.key]
    if (!step) return
    event.preventDefault()
    const { row, day: column } = this.#cell ?? { row: 0, day: this.#wall.days }
    this.#choose(row + (this.#cell ? step[0] : 0), column + (this.#cell ? step[1] : -1))
  }

  #choose(row: number, column: number): void {
    const { rows, days } = this.#wall
    if (row < 0 || row >= rows.length || column < 0 || column >= days) return
    this.#cell = { row, day: column }
    this.draw()
    this.#chosen(this.#cell)
  }
}

/** Whether the name of the next month would overlap that of the first. */
const hasMonthSoon = (firstDay: number, width: number): boolean =>
  (32 - Number(timeText(firstDay, true).slice(8))) * width < 60

function colors() {
  const style = getComputedStyle(document.documentElement)
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim()
  return {
    full: of('up'),
    part: of('part'),
    none: of('none'),
    open: of('open'),
    text: of('text'),
    panel: of('panel'),
  }
}
