const el = (
  <div className="x">hi</div>
)
