// Command elastic
package main
import ("context";"fmt";"time";"os"
"github.com/apportion/apportion/placement/sim"
"github.com/apportion/apportion/placement/sim/elastic")
func main(){
 w,err:=readWorld(); if err!=nil{panic(err)}
 loads,err:=readWorkloads(); if err!=nil{panic(err)}
 for _,l:=range loads {
  if len(os.Args)>1 && l.name!=os.Args[1] {continue}
  s,err:=w.scenario(l,nil); if err!=nil{panic(err)}
  if len(os.Args)>2 { for i:=range s.Jobs { j:=&s.Jobs[i]; r,_:=j.RateOn(packed(j.Fixed)); r4,_:=j.RateOn(packed(min(4,j.Max))); fmt.Println(j.ID,j.Model,j.Fixed,j.Max,j.Work, float64(r4)/1e6, float64(r)/1e6, time.Duration(float64(j.Work)/float64(r)*1e6)) } ; continue}
  for _,p:=range []sim.Policy{&elastic.Worth{Label:"np age p0 s7200",Price:elastic.Age,Power:0,Scale:7200},&elastic.Worth{Label:"np age p.5 s7200",Price:elastic.Age,Power:.5,Scale:7200},&elastic.Worth{Label:"np age p1 s36000",Price:elastic.Age,Power:1,Scale:36000},&elastic.Worth{Label:"np flat p.5",Power:.5}}{
   t:=time.Now()
   r,err:=sim.Run(context.Background(),s,p); if err!=nil{fmt.Println(p.Name(),err);continue}
   m,err:=elastic.Measure(s,r); if err!=nil{panic(err)}
   fmt.Printf("%s %-15s mean %6.0f med %6.0f p99 %6.0f mk %6.0f restarts %d gpuh %.0f rho %.2f worst %.1f n=%d  %.1fs\n",l.name,p.Name(),m.Mean.Seconds(),m.Median.Seconds(),m.P99.Seconds(),m.Makespan.Seconds(),m.Restarts,m.ContainerHours,m.Rho,m.WorstRho,len(r.Samples),time.Since(t).Seconds())
  }
 }
}
