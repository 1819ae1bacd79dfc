import type { Range } from '../../../clients/typescript/src/types.ts'
import { colorOf, element } from '../elements.ts'
import { timeText } from '../texts/words.ts'
import { runsOf, statesOf } from './answered.ts'

const day = 86_400
const headHeight = 20
const rowHeight = 16
const labelWidth = 104
const monthWidth = 56
/** Below the last row. */
const footHeight = 6
const cellWidthLeast = 3
/** A finger needs more. */
const touchWidthLeast = 8
export const touchQuery = '(pointer: coarse), (max-width: 40rem)'

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

interface Events {
  /** A cell is chosen by a click or an arrow. */
  chosen(cell: Cell): void
  /** The pointer is over a cell, or over none. */
  pointed(cell: Cell | undefined): void
}

/**
 * A row for each symbol, a column for each day. The box scrolls over the whole wall; its canvas has the size of
 * the box, stays in view and draws the visible part.
 */
export class WallCanvas {
  readonly #canvas = element('canvas', {
    tabindex: 0,
    role: 'img',
    'aria-label': 'Symbols by days. Arrows choose a cell; its minutes are named below.',
  })
  readonly #space = element('div', {}, this.#canvas)
  readonly element = element('div', { class: 'wall' }, this.#space)
  readonly #touched = matchMedia(touchQuery)
  readonly #events: Events
  #wall: Wall = { rows: [], firstDay: 0, days: 0, now: 0 }
  #cell: Cell | undefined
  /** The wall was not drawn yet: it begins with its last day. */
  #isNew = true

  constructor(events: Events) {
    this.#events = events
    this.element.addEventListener('scroll', () => this.draw())
    this.#canvas.addEventListener('click', (event) => this.#choose(this.#cellAt(event)))
    this.#canvas.addEventListener('pointermove', (event) => events.pointed(this.#cellAt(event)))
    this.#canvas.addEventListener('pointerleave', () => events.pointed(undefined))
    this.#canvas.addEventListener('keydown', (event) => this.#move(event))
    new ResizeObserver(() => this.draw()).observe(this.element)
  }

  /** Whether some days are out of view. */
  get isWide(): boolean {
    return this.element.scrollWidth > this.element.clientWidth
  }

  show(wall: Wall): void {
    this.#wall = wall
    this.#cell = undefined
    this.#isNew = true
    this.#space.style.height = `${headHeight + wall.rows.length * rowHeight + footHeight}px`
    this.element.scrollTop = 0
    this.draw()
  }

  draw(): void {
    const { element: box } = this
    // The box is not in the window yet.
    if (box.clientWidth === 0) return
    this.#space.style.width = `${labelWidth + this.#wall.days * this.#cellWidth()}px`
    if (this.#isNew) box.scrollLeft = box.scrollWidth
    this.#isNew = false
    const context = this.#prepare(box.clientWidth, box.clientHeight)
    const color = colors()
    this.#drawCells(context, color)
    this.#drawMonths(context, color)
    this.#drawLabels(context, color)
  }

  #drawCells(context: CanvasRenderingContext2D, color: Colors): void {
    const { firstDay, days, now } = this.#wall
    const { clientHeight: height } = this.element
    const width = this.#cellWidth()
    for (const { top, ranges } of this.#visibleRows()) {
      for (const { state, at, length } of runsOf(statesOf(ranges, firstDay, days, now))) {
        context.fillStyle = color[state]
        context.fillRect(this.#leftOf(at), top, length * width, rowHeight)
      }
      context.fillStyle = color.panel
      context.fillRect(this.#leftOf(0), top, days * width, 1)
    }
    context.fillStyle = color.panel
    if (width > 6) for (let i = 0; i < days; i++) context.fillRect(this.#leftOf(i), 0, 1, height)
    if (!this.#cell) return
    context.strokeStyle = color.text
    context.lineWidth = 2
    context.strokeRect(this.#leftOf(this.#cell.day), this.#topOf(this.#cell.row), width, rowHeight)
  }

  /** The month of the left edge stays there. A name without room is left out. */
  #drawMonths(context: CanvasRenderingContext2D, color: Colors): void {
    const { firstDay, days } = this.#wall
    const { clientWidth: width } = this.element
    context.fillStyle = color.panel
    context.fillRect(0, 0, width, headHeight)
    context.fillStyle = color.text
    let end = width
    for (let i = days - 1; i >= 0 && end > labelWidth; i--) {
      const date = timeText(firstDay + i * day, true)
      if (i > 0 && !date.endsWith('-01')) continue
      const left = Math.max(this.#leftOf(i), labelWidth)
      if (left + monthWidth <= end) context.fillText(date.slice(0, 7), left, headHeight / 2)
      end = Math.min(end, left)
    }
  }

  #drawLabels(context: CanvasRenderingContext2D, color: Colors): void {
    context.fillStyle = color.panel
    context.fillRect(0, 0, labelWidth, this.element.clientHeight)
    context.fillStyle = color.text
    for (const { top, label } of this.#visibleRows())
      context.fillText(label, 8, top + rowHeight / 2, labelWidth - 12)
    context.fillStyle = color.panel
    context.fillRect(0, 0, labelWidth, headHeight)
  }

  /** The rows in view, with their places in it. */
  #visibleRows(): (WallRow & { readonly top: number })[] {
    const { scrollTop, clientHeight } = this.element
    const first = Math.floor(scrollTop / rowHeight)
    return this.#wall.rows
      .slice(first, first + Math.ceil(clientHeight / rowHeight) + 1)
      .map((each, i) => ({ ...each, top: this.#topOf(first + i) }))
  }

  /** Upper edge of a row in view. */
  #topOf(row: number): number {
    return headHeight + row * rowHeight - this.element.scrollTop
  }

  /** Left edge of a day in view. */
  #leftOf(column: number): number {
    return labelWidth + column * this.#cellWidth() - this.element.scrollLeft
  }

  #cellWidth(): number {
    const room = Math.floor((this.element.clientWidth - labelWidth) / this.#wall.days)
    return Math.max(this.#touched.matches ? touchWidthLeast : cellWidthLeast, room)
  }

  #prepare(width: number, height: number): CanvasRenderingContext2D {
    const scale = window.devicePixelRatio
    this.#canvas.width = width * scale
    this.#canvas.height = height * scale
    this.#canvas.style.width = `${width}px`
    this.#canvas.style.height = `${height}px`
    const context = this.#canvas.getContext('2d')
    if (!context) throw new Error('this browser has no canvas')
    context.scale(scale, scale)
    context.font = `12px ${getComputedStyle(document.body).fontFamily}`
    context.textBaseline = 'middle'
    return context
  }

  #cellAt({ offsetX, offsetY }: MouseEvent): Cell | undefined {
    const { rows, days } = this.#wall
    if (offsetX < labelWidth || offsetY < headHeight) return undefined
    const row = Math.floor((offsetY - headHeight + this.element.scrollTop) / rowHeight)
    const column = Math.floor((offsetX - this.#leftOf(0)) / this.#cellWidth())
    return row < rows.length && column < days ? { row, day: column } : undefined
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
    const { rows, days } = this.#wall
    const { row, day: column } = this.#cell ?? { row: 0, day: days }
    const next = { row: row + (this.#cell ? step[0] : 0), day: column + (this.#cell ? step[1] : -1) }
    if (next.row < 0 || next.row >= rows.length || next.day < 0 || next.day >= days) return
    this.#choose(next)
    this.#reveal(next)
  }

  #choose(cell: Cell | undefined): void {
    if (!cell) return
    this.#cell = cell
    this.draw()
    this.#events.chosen(cell)
  }

  /** Scrolls as little as shows the whole cell. */
  #reveal({ row, day: column }: Cell): void {
    const { element: box } = this
    const width = this.#cellWidth()
    const [top, left] = [row * rowHeight, column * width]
    const [leastTop, leastLeft] = [
      top + headHeight + rowHeight - box.clientHeight,
      left + labelWidth + width - box.clientWidth,
    ]
    box.scrollTo(
      Math.min(left, Math.max(leastLeft, box.scrollLeft)),
      Math.min(top, Math.max(leastTop, box.scrollTop)),
    )
  }
}

type Colors = ReturnType<typeof colors>

const colors = () => ({
  full: colorOf('up'),
  part: colorOf('part'),
  none: colorOf('none'),
  open: colorOf('open'),
  text: colorOf('text'),
  panel: colorOf('panel'),
})
