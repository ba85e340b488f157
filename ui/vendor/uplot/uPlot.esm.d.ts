// What of uPlot is used here.

declare class uPlot {
  constructor(options: uPlot.Options, data: uPlot.AlignedData, target: HTMLElement);
  readonly root: HTMLElement;
  readonly width: number;
  readonly data: uPlot.AlignedData;
  readonly cursor: { idx?: number | null };
  setData(data: uPlot.AlignedData): void;
  setSize(size: { width: number; height: number }): void;
  setLegend(at: { idx: number }): void;
  destroy(): void;
}

declare namespace uPlot {
  type AlignedData = [xValues: number[], ...yValues: number[][]];
  namespace Scale {
    type Range = (plot: uPlot, min: number, max: number) => [number, number];
  }
  interface Axis {
    stroke?: string;
    grid?: { stroke?: string; width?: number };
    ticks?: { show?: boolean };
    font?: string;
    space?: number;
    size?: number;
    values?: string | ((plot: uPlot, splits: number[]) => string[]);
  }
  interface Series {
    label?: string;
    stroke?: string;
    width?: number;
    points?: { show?: boolean | ((plot: uPlot) => boolean) };
    value?: string | ((plot: uPlot, value: number | null) => string);
  }
  interface Options {
    width: number;
    height: number;
    scales?: { [name: string]: { time?: boolean; range?: Scale.Range } };
    legend?: { show?: boolean; live?: boolean };
    cursor?: { drag?: { x?: boolean; y?: boolean }; y?: boolean };
    axes?: Axis[];
    series: Series[];
    hooks?: { ready?: ((u: uPlot) => void)[] };
  }
}

export default uPlot;
