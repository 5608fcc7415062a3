import { type ComponentChildren, Fragment } from "preact";
import type { Interval, Report } from "./data";
import { count, dateText, decimals, percent, plain, plural, shortHash } from "./format";

function Figure({ name, long, interval, unit }: { name: string; long: string; interval: Interval; unit: "%" | "" }) {
  const text = (value: number | null) => (unit ? percent(value) : decimals(value, 4));
  return (
    <div class="figure">
      <dt>
        {name} <span class="quiet">{long}</span>
      </dt>
      <dd>
        <span class="big">{text(interval.value)}</span>
        {unit && <span class="unit"> %</span>}
        {interval.low !== null && interval.high !== null && (
          <span class="interval">
            95 % interval {text(interval.low)} to {text(interval.high)}
          </span>
        )}
      </dd>
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

export function Headline({ report }: { report: Report }) {
  const { accuracy, split, model, made, scene, comparison } = report;
  const leakage = split?.leakage;
  const repeats = Math.max(0, ...(comparison?.table ?? []).map((row) => row.repeats.length));
  return (
    <section id="summary" class="headline" aria-labelledby="summary-title">
      <h2 id="summary-title" class="visually-hidden">
        Summary
      </h2>
      {accuracy && (
        <div class="figures">
          <dl>
            <Figure name="OA" long="overall accuracy" interval={accuracy.oa} unit="%" />
            {accuracy.aa && <Figure name="AA" long="average accuracy" interval={accuracy.aa} unit="%" />}
            <Figure name="Kappa" long="" interval={accuracy.kappa} unit="" />
          </dl>
          <p class="counts">
            {count(accuracy.correct)} of {count(accuracy.pixels)} right, on {accuracy.on}
          </p>
          {leakage && (
            <div class="leakage">
              <div class="meter" aria-hidden="true">
                <span style={{ width: `${100 * Math.min(1, Math.max(0, leakage.adjacent))}%` }} />
              </div>
              <p>
                <b>Leakage</b> {leakage.text}
              </p>
            </div>
          )}
        </div>
      )}
      <dl class="facts">
        <Fact name={scene.bands > 0 ? "Scene" : "Map"}>
          {scene.file}{" "}
          <span class="quiet">
            {`${count(scene.rows)} × ${count(scene.cols)}`}
            {scene.bands > 0 && `, ${plural(scene.bands, "band")}`}
          </span>
        </Fact>
        {comparison && (
          <Fact name="Compared">
            {plural(comparison.table.length, "method")}
            {repeats > 1 && (
              <>
                , {repeats} repeats <span class="quiet">the maps and the split are those of the first</span>
              </>
            )}
          </Fact>
        )}
        {split && (
          <Fact name="Split">
            {split.rule}{" "}
            <span class="quiet">
              {`${count(split.train)} training, ${count(split.test)} test`},{" "}
              <span title={split.hash}>{shortHash(split.hash)}</span>
            </span>
          </Fact>
        )}
        {split && !accuracy && leakage && <Fact name="Leakage">{leakage.text}</Fact>}
        {model && (
          <Fact name="Model">
            {model.method}{" "}
            <span class="quiet">
              {[
                model.kernel,
                model.atoms > 0 && `${model.atoms} atoms`,
                `window ${model.window}`,
                model.lambda1 > 0 && `λ₁ ${plain(model.lambda1)}`,
                model.lambda2 > 0 && `λ₂ ${plain(model.lambda2)}`,
                model.loss && `${model.loss} loss`,
                model.normalizer,
              ]
                .filter(Boolean)
                .join(", ")}
            </span>
          </Fact>
        )}
        {model && (
          <Fact name="Model hash">
            <code title={model.hash}>{shortHash(model.hash)}</code> <span class="quiet">{model.file}</span>
          </Fact>
        )}
        <Fact name="Made">
          {dateText(made.date)}{" "}
          <span class="quiet">
            by {made.program}
            {made.seed !== null && `, seed ${made.seed}`}
          </span>
        </Fact>
        <Fact name="Command">
          <code class="command">
            {made.command.split(" ").map((word, i) => (
              // A line ends between words, not after the hyphens of an option.
              <Fragment key={String(i)}>
                {i > 0 && " "}
                <span>{word}</span>
              </Fragment>
            ))}
          </code>
        </Fact>
        {report.reduced.length > 0 && <Fact name="Reduced">{report.reduced.join(" ")}</Fact>}
      </dl>
    </section>
  );
}
